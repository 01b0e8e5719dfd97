/// The iOS that a phone runs; it decides which calls exist (spec D-002, the generations of section A).
public struct IOSVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var major: Int
  public var minor: Int
  public var patch: Int

  public init(_ major: Int, _ minor: Int = 0, _ patch: Int = 0) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// Reads `17`, `17.0` or `8.2.1`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    let numbers = parts.compactMap { $0 }
    guard (1...3).contains(parts.count), numbers.count == parts.count, numbers.allSatisfy({ $0 >= 0 }) else {
      return nil
    }
    self.init(numbers[0], numbers.count > 1 ? numbers[1] : 0, numbers.count > 2 ? numbers[2] : 0)
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
  }

  /// `17.0`, and `8.2.1` where there is a third number.
  public var description: String { patch == 0 ? "\(major).\(minor)" : "\(major).\(minor).\(patch)" }

  public var generation: Generation {
    if major < 7 { return .g1 }
    return major < 10 ? .g2 : .g3
  }

  /// What an app can be called with. Which of these it implements is the app's business (D-002).
  public enum Generation: String, CaseIterable, Sendable {
    /// iOS 3–6: `application:didReceiveRemoteNotification:` only.
    case g1 = "G1"
    /// iOS 7–9: adds the fetch completion handler, from 8 on the user-notification settings.
    case g2 = "G2"
    /// iOS 10 and later: UserNotifications, its centre and its delegate.
    case g3 = "G3"
  }

  /// Before iOS 4 an app that is left ends (D-164).
  var hasMultitasking: Bool { major >= 4 }
  /// Banners and the notification centre came with iOS 5; before, every alert was modal (D-127).
  var hasCentre: Bool { major >= 5 }
}
