public import Delivery
public import PushPayload
import Transport

/// Why a request about channels, or a broadcast, did not do what was asked. Safe to show: holds no token and no key.
public struct ChannelFault: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Cause: Equatable, Sendable {
    /// APNs' word, kept even when we do not know it.
    case refused(PushOutcome.Refusal)
    /// Not sent: APNs or the phones would make nothing of it.
    case findings([Finding])
    case notSent(String)
    /// Not sent: the credential is refused or unusable until somebody acts.
    case suspended(String)
    /// No answer; APNs may have done it all the same, unless `isCertainlyUndone`.
    case unanswered(String, isCertainlyUndone: Bool)
    /// 2xx, but not with what Apple's page says is in it.
    case malformedAnswer(String)
  }

  public let cause: Cause
  /// `apns-request-id` of the last attempt, for Apple's support; nil for what was not sent.
  public let requestID: String?

  public init(_ cause: Cause, requestID: String? = nil) {
    self.cause = cause
    self.requestID = requestID
  }

  /// Apple's reason, when it is one that we know.
  public var reason: RefusalReason? { if case .refused(let refusal) = cause { refusal.known } else { nil } }

  /// What happened; a sentence.
  public var meaning: String {
    switch cause {
    case .refused(let refusal):
      guard let known = refusal.known else {
        return "APNs refused it with \(refusal.status) \(refusal.reason), a reason that is not in its list."
      }
      return known.meaning
    case .findings(let findings): return findings.first.map { "\(sentence($0.message)) \($0.effect)" } ?? ""
    case .notSent(let words), .suspended(let words), .malformedAnswer(let words): return sentence(words)
    case .unanswered(let why, _): return sentence(why)
    }
  }

  /// What to do; a sentence.
  public var remedy: String {
    switch cause {
    case .refused(let refusal):
      return refusal.known?.remedy
        ?? "Look the reason up at Apple, or check what stands between this machine and APNs."
    case .findings(let findings): return findings.first?.fix ?? ""
    case .notSent: return "Mend that, then try again."
    case .suspended: return "Mend the credential, then try again."
    case .unanswered(_, isCertainlyUndone: true): return "Check host and port, and try again."
    case .unanswered(_, isCertainlyUndone: false): return "List the app's channels to see whether it was done."
    case .malformedAnswer: return "Check what stands between this machine and APNs."
    }
  }

  public var description: String { "\(meaning) \(remedy)" }

  private func sentence(_ text: String) -> String {
    let first = text.prefix(1).uppercased() + text.dropFirst()
    return first.hasSuffix(".") ? first : first + "."
  }
}

/// A broadcast that APNs took; no proof that a phone showed it.
public struct BroadcastReceipt: Hashable, Sendable {
  public let requestID: String
  /// `apns-unique-id`, to look it up in Apple's console.
  public let uniqueID: String?
}

/// Where channels are managed and broadcasts go.
public struct BroadcastServer: Hashable, Sendable {
  public var manage: APNSServer
  public var send: APNSServer

  public init(manage: APNSServer, send: APNSServer) {
    self.manage = manage
    self.send = send
  }

  /// Apple's hosts; the ports are Apple's, too. (Apple, "Sending channel management requests to APNs")
  public static let sandbox = BroadcastServer(
    manage: APNSServer(.init(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)), send: .sandbox)
  public static let production = BroadcastServer(
    manage: APNSServer(.init(host: "api-manage-broadcast.push.apple.com", port: 2196)), send: .production)
}
