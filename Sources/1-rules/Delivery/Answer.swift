import Basics
import PushPayload

/// What APNs said of one push, before anything follows from it.
public enum Answer: Equatable, Sendable {
  /// `uniqueID` is `apns-unique-id`, which only the sandbox gives.
  case accepted(uniqueID: String?)
  case refused(PushOutcome.Refusal)

  /// Reads an answer: any 2xx is acceptance; anything else is refusal, whose body need not be JSON, may lack a reason
  /// or carry one that nobody knows. `timestamp` is milliseconds since 1970 and counts only with 410.
  public init(status: Int, body: [UInt8], uniqueID: String? = nil) {
    guard !(200..<300 ~= status) else {
      self = .accepted(uniqueID: uniqueID)
      return
    }
    let said = Said(body)
    self = .refused(
      PushOutcome.Refusal(status: status, reason: said.reason ?? "", since: status == 410 ? said.timestamp : nil))
  }

  /// The reason in a GOAWAY's debug data, which may also be plain text or nothing.
  public static func reason(inGoAway debugData: [UInt8]) -> String? { Said(debugData).reason }

  private struct Said {
    var reason: String?
    var timestamp: Instant?

    init(_ bytes: [UInt8]) {
      guard bytes.first == UInt8(ascii: "{"), bytes.count <= 4096,
        let object = (try? JSONReader.read(bytes))?.value.object
      else {
        return
      }
      reason = object["reason"]?.string
      if let number = object["timestamp"]?.number {
        timestamp = (number.int64 ?? Int64(exactly: number.double.rounded())).map(Instant.init(milliseconds:))
      }
    }
  }
}
