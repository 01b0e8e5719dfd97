public import PushPayload

/// One change that a service extension makes to `UNMutableNotificationContent` (D-251).
public enum ContentEdit: Hashable, Sendable {
  case title(EditedText)
  case subtitle(EditedText)
  case body(EditedText)
  /// nil: the number stays as it is.
  case badge(Int64?)
  case sound(Payload.Sound?)
  case category(String?)
  case thread(String?)
  case level(Payload.InterruptionLevel)
  case relevance(Double?)
  case targetContent(String?)
  case filterCriteria(String?)
  case attach(NotificationAttachment)
  /// Sets a member of `userInfo`; nil takes it away.
  case userInfo(key: String, JSONValue?)
  /// Writes a value where the app looks too, if both have an app group; nil takes it away.
  case share(key: String, JSONValue?)
  /// Adds one to the number under that key there, and makes it the badge.
  case countBadge(key: String)
  /// Answers a new, empty content: no text, sound, badge, attachment, `userInfo` (D-254).
  case empty
}

/// What a text is changed to.
public enum EditedText: Hashable, Sendable, ExpressibleByStringLiteral {
  case text(String)
  /// The string under this key beside `aps`, as if decrypted from there; without one the edit changes nothing.
  case custom(key: String)

  public init(stringLiteral text: String) { self = .text(text) }
}

extension Content {
  /// As an extension leaves it; texts that it sets are words, not keys.
  func edited(by edits: [ContentEdit]) -> Content {
    var draft = Draft(payload: payload, userInfo: userInfo, attachments: attachments)
    for edit in edits { draft.take(edit) }
    return Content(draft.payload, userInfo: draft.userInfo, flaw: flaw, attachments: draft.attachments)
  }

  private struct Draft {
    var payload: Payload
    var userInfo: JSONObject
    var attachments: [NotificationAttachment]

    mutating func take(_ edit: ContentEdit) {
      switch edit {
      case .title(let text): set(text) { $0.title = $1 }
      case .subtitle(let text): set(text) { $0.subtitle = $1 }
      case .body(let text): set(text) { $0.body = $1 }
      case .badge(let badge): payload.badge = badge
      case .sound(let sound): payload.sound = sound
      case .category(let category): payload.category = category
      case .thread(let thread): payload.threadID = thread
      case .level(let level): payload.interruptionLevel = level
      case .relevance(let score): payload.relevanceScore = score
      case .targetContent(let id): payload.targetContentID = id
      case .filterCriteria(let criteria): payload.filterCriteria = criteria
      case .attach(let attachment): attachments.append(attachment)
      case .userInfo(let key, let value): userInfo[key] = value
      case .share, .countBadge: break  // of the group, not of the content
      case .empty:
        payload = Payload()
        userInfo = JSONObject()
        attachments = []
      }
    }

    private mutating func set(_ text: EditedText, _ change: (inout Payload.Alert, Payload.Text) -> Void) {
      let words: String
      switch text {
      case .text(let text): words = text
      case .custom(let key):
        guard let found = userInfo[key]?.string else { return }
        words = found
      }
      var alert = payload.alert ?? Payload.Alert()
      change(&alert, .literal(words))
      payload.alert = alert
    }
  }
}
