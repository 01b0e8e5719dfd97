/// What a push asks the phone to show, if the user lets it: the one table that lint, simulator and phone share (case C24).
///
/// | `aps` | text | else |
/// | --- | --- | --- |
/// | absent, not an object, `{}` | nothing | |
/// | `"alert": ""`, `{}`, `{"body": ""}` | nothing | |
/// | `"alert": "B"`, `{"body": "B"}` | the app's name, B | |
/// | `{"title": "A"}`, `{"title": "A", "body": ""}` | A alone | |
/// | only `sound` | nothing | the sound |
/// | only `badge` | nothing | the number |
public struct Appearance: Hashable, Sendable {
  /// Heads the notification; nil: the app's name does.
  public var title: Payload.Text?
  public var subtitle: Payload.Text?
  public var body: Payload.Text?
  /// nil leaves the number at the icon, 0 removes it.
  public var badge: Int64?
  public var sound: Payload.Sound?

  /// Whether an entry appears on the lock screen, as a banner, in the notification centre.
  public var showsText: Bool { title != nil || subtitle != nil || body != nil }

  /// Nobody sees or hears anything.
  public var isNothing: Bool { !showsText && badge == nil && sound == nil }

  /// For logs and timelines: `title "A", body "B", badge 3, sound default`; `nothing`.
  public var summary: String {
    var parts: [String] = []
    for (name, text) in [("title", title), ("subtitle", subtitle), ("body", body)] {
      switch text {
      case nil: continue
      case .literal(let text): parts.append("\(name) \(JSONValue.string(text).text)")
      case .localized(let key, _, _): parts.append("\(name) of \(JSONValue.string(key).text)")
      }
    }
    if let badge { parts.append(badge == 0 ? "badge removed" : "badge \(badge)") }
    if let sound { parts.append("\(sound.isCritical ? "critical " : "")sound \(sound.name)") }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }
}

extension Payload {
  /// What there is to show and to hear; empty texts are none.
  public var appearance: Appearance {
    func shown(_ text: Text?) -> Text? { text.flatMap { $0.isEmpty ? nil : $0 } }
    return Appearance(
      title: shown(alert?.title), subtitle: shown(alert?.subtitle), body: shown(alert?.body), badge: badge, sound: sound
    )
  }

  /// The kind by which the tables of spec device.md tell pushes apart. `pushType` is what came in `apns-push-type`.
  public func kind(pushType: PushType? = nil) -> PushKind {
    switch pushType {
    case .voip: return .voip
    case .complication, .fileprovider, .mdm, .location, .liveactivity, .pushtotalk, .controls, .widgets:
      return .special
    case .alert, .background, nil: break
    }
    let appearance = appearance
    if contentAvailable, !appearance.isNothing { return .alertAndWake }
    if contentAvailable { return custom.members.isEmpty ? .silent : .silentWithExtras }
    if appearance.showsText { return .alert }
    if appearance.sound != nil { return .soundOnly }
    return appearance.badge != nil ? .badgeOnly : .nothing
  }
}

/// Kinds of push as spec device.md A numbers them; presence of something visible decides, never `content-available`
/// alone (D-087).
public enum PushKind: String, CaseIterable, Sendable {
  case alert = "K1"
  /// Something visible and `content-available`: the seed's "background push".
  case alertAndWake = "K2"
  case silent = "K3"
  case badgeOnly = "K4"
  /// A sound without text; a badge may be beside it.
  case soundOnly = "K5"
  case voip = "K6"
  /// Silent, with custom keys beside `aps`.
  case silentWithExtras = "K7"
  /// Neither alert, badge, sound nor wake (D-117).
  case nothing
  /// For a part of the system that is not the notification centre: Live Activity, widget, control, MDM and others.
  case special
}
