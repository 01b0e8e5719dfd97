/// What an app asks to be allowed: the bits of `UNAuthorizationOptions` and of the older types (D-020).
public struct NotificationOptions: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let badge = Self(rawValue: 1)
  public static let sound = Self(rawValue: 2)
  public static let alert = Self(rawValue: 4)
  public static let carPlay = Self(rawValue: 8)
  public static let criticalAlert = Self(rawValue: 16)
  public static let providesAppNotificationSettings = Self(rawValue: 32)
  public static let provisional = Self(rawValue: 64)
  public static let announcement = Self(rawValue: 128)
  public static let timeSensitive = Self(rawValue: 256)
  public static let newsstand = Self(rawValue: 512)

  /// The three of the seed's code (D-012).
  public static let usual: Self = [.badge, .sound, .alert]

  /// Every one with its name.
  public static let table: [(option: Self, name: String)] = history.map { ($0.option, $0.name) }

  private static let history: [(option: Self, name: String, since: IOSVersion, before: IOSVersion)] = [
    (.badge, "badge", IOSVersion(3), .never), (.sound, "sound", IOSVersion(3), .never),
    (.alert, "alert", IOSVersion(3), .never), (.newsstand, "newsstand", IOSVersion(5), IOSVersion(8)),
    (.carPlay, "carPlay", IOSVersion(10), .never), (.criticalAlert, "criticalAlert", IOSVersion(12), .never),
    (.provisional, "provisional", IOSVersion(12), .never),
    (.providesAppNotificationSettings, "providesAppNotificationSettings", IOSVersion(12), .never),
    (.announcement, "announcement", IOSVersion(13), IOSVersion(15)),
    (.timeSensitive, "timeSensitive", IOSVersion(15), .never),
  ]

  /// Those that this iOS knows (D-020).
  public func known(to version: IOSVersion) -> Self {
    Self.history.reduce(into: []) { known, row in
      if contains(row.option), version >= row.since, version < row.before { known.insert(row.option) }
    }
  }

  public var names: [String] { Self.table.filter { contains($0.option) }.map(\.name) }

  public var description: String { isEmpty ? "nothing" : names.joined(separator: "+") }
}

extension IOSVersion {
  fileprivate static let never = IOSVersion(.max)
}

/// What `willPresent` answers (D-101): the bits of `UNNotificationPresentationOptions`.
public struct PresentationOptions: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let badge = Self(rawValue: 1)
  public static let sound = Self(rawValue: 2)
  /// The option of iOS 10–13; counts as banner and list.
  public static let alert = Self(rawValue: 4)
  public static let list = Self(rawValue: 8)
  public static let banner = Self(rawValue: 16)

  static let everything: Self = [.banner, .list, .sound, .badge]

  /// Every one with its name.
  public static let table: [(option: Self, name: String)] = [
    (.badge, "badge"), (.sound, "sound"), (.alert, "alert"), (.list, "list"), (.banner, "banner"),
  ]

  public var description: String {
    let present = Self.table.filter { contains($0.option) }.map(\.name)
    return present.isEmpty ? "nothing" : present.joined(separator: "+")
  }
}
