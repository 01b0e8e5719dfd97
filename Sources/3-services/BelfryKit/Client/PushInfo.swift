public import Foundation

/// What the service wrote into a push, read from the `userInfo` that the system gave the app.
public struct PushInfo: Hashable, Sendable {
  /// Digits; the id of the in-app message of the same push, too. nil: the push is not of this service.
  public let messageID: String?
  /// The message id of a push that the app is to show no more: a silent push asks for it.
  public let withdrawn: String?
  /// Of `attachments`; https only.
  public let attachments: [URL]

  public init(userInfo: [AnyHashable: Any]) {
    messageID = Self.digits(userInfo["_j_msgid"])
    withdrawn = Self.digits(userInfo["_j_withdraw"])
    attachments = (userInfo["attachments"] as? [Any] ?? []).compactMap { address in
      (address as? String).flatMap { URL(string: $0) }.flatMap { $0.scheme == "https" ? $0 : nil }
    }
  }

  /// A number in a payload, a text in what old servers sent.
  private static func digits(_ value: Any?) -> String? {
    let text: String? =
      switch value {
      case let text as String: text
      case let number as NSNumber: number.stringValue
      default: nil
      }
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return text
  }
}
