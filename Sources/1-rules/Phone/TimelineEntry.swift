public import Basics
public import PushPayload

/// One thing that happened on a phone, and the rule that says so.
public struct TimelineEntry: Hashable, Sendable {
  public var time: Instant
  /// nil: concerns the phone as a whole.
  public var bundleID: String?
  /// The app's state after what happened.
  public var appState: AppState?
  public var locked: Bool
  public var what: What
  public var rule: Rule

  public enum What: Hashable, Sendable {
    /// A push came in, of the kind that the tables mean (K1 …).
    case arrived(pushID: String, kind: PushKind, text: String)
    /// The app's code was called.
    indirect case callback(Callback)
    /// Something showed or sounded.
    indirect case shown(Shown)
    /// A push, or a part of it, showed nothing or reached nobody, and why.
    case withheld(pushID: String, reason: String)
    /// The app's state changed.
    case state(from: AppState, to: AppState)
    case badge(from: Int, to: Int)
    /// The scheduled summary came (D-265).
    case summary(Summary)
    /// Entries left the notification centre, the lock screen or the screen.
    case removed(ids: [String], reason: String)
    /// A Live Activity changed (D-189).
    indirect case activity(ActivityChange)
    /// The user did something.
    case user(String)
    /// The app's code did something.
    case app(String)
    /// The app's code did something that it must not.
    case fault(String)
    /// The system did something that nobody sees.
    case system(String)
    /// A rule that this phone does not know yet: it does nothing rather than guess.
    case notModelled(String)
  }

  /// What was collected since the last summary, most relevant first (D-265).
  public struct Summary: Hashable, Sendable {
    /// Where the one sign of it shows; the entries themselves are in the centre from now on.
    public var parts: Shown.Parts
    public var entries: [Item]

    public struct Item: Hashable, Sendable {
      public var bundleID: String
      /// The identifier of the notification request.
      public var id: String
      /// The `relevance-score`, 0 … 1; 0 when the push names none.
      public var relevance: Double
    }
  }

  /// What the user sees and hears of one notification: the letters B L C S N W of the specification.
  public struct Shown: Hashable, Sendable {
    public var pushID: String
    /// The identifier of the notification request.
    public var id: String
    public var parts: Parts
    /// Bold: the title, else the app's name (D-203).
    public var heading = ""
    public var subtitle = ""
    public var body = ""
    public var sound: Sound?
    /// Of a critical sound, 0 … 1; nil: as loud as the phone is set (D-224).
    public var volume: Double?
    public var badge: Int?
    /// Names of the media files beside the text (D-256).
    public var attachments: [String] = []
    /// Of a modal alert (D-127, D-209).
    public var buttons: [String] = []
    /// What a paired watch heads it with, iOS 8.2 to 9 (D-203).
    public var watchTitle: String?
    /// The level by which it was shown, after entitlement and the user's leave (D-260 … D-263).
    public var level = Payload.InterruptionLevel.active

    public enum Sound: Hashable, Sendable {
      /// The tri-tone (D-220).
      case system
      case file(String)
      /// The mute switch is on (D-225).
      case vibration
    }

    public struct Parts: OptionSet, Hashable, Sendable, CustomStringConvertible {
      public let rawValue: UInt16
      public init(rawValue: UInt16) { self.rawValue = rawValue }
      public static let banner = Self(rawValue: 1)
      /// In place of the banner: before iOS 5, or by the app's alert style (D-127).
      public static let modal = Self(rawValue: 2)
      public static let lockScreen = Self(rawValue: 4)
      public static let centre = Self(rawValue: 8)
      public static let sound = Self(rawValue: 16)
      public static let badge = Self(rawValue: 32)
      /// The screen wakes.
      public static let wakesScreen = Self(rawValue: 64)
      /// Spoken by VoiceOver; no letter of the specification.
      public static let spoken = Self(rawValue: 128)
      /// The system's call screen, which an app asked for (D-186); no letter of the specification.
      public static let call = Self(rawValue: 256)

      /// As the specification writes it: `BCSN`, `LWC`, `-` for nothing. A modal alert counts as B.
      public var letters: String {
        let table: [(Self, String)] = [
          (.banner, "B"), (.modal, "B"), (.lockScreen, "L"), (.wakesScreen, "W"), (.centre, "C"), (.sound, "S"),
          (.badge, "N"),
        ]
        let present = table.filter { contains($0.0) }.map(\.1).joined()
        return present.isEmpty ? "-" : present
      }

      public var description: String {
        let table: [(Self, String)] = [
          (.banner, "banner"), (.modal, "alert"), (.lockScreen, "lock screen"), (.wakesScreen, "screen wakes"),
          (.centre, "centre"), (.sound, "sound"), (.badge, "badge"), (.spoken, "spoken"),
          (.call, "the call screen"),
        ]
        let present = table.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "nothing" : present.joined(separator: ", ")
      }
    }
  }
}
