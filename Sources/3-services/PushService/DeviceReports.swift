public import Basics
import Store

/// What a device says became of a push on it.
public struct PushSaying: Sendable, Hashable {
  public enum Kind: String, CaseIterable, Sendable {
    /// Its service extension had it.
    case received
    case shown
    case clicked
  }

  public var messageID: Int64
  public var kind: Kind
  /// By the device's clock; nil for now.
  public var at: Instant?

  public init(messageID: Int64, kind: Kind, at: Instant? = nil) {
    self.messageID = messageID
    self.kind = kind
    self.at = at
  }
}

/// What was done with a device's sayings.
public struct SayingsReceipt: Sendable, Equatable {
  public var counted = 0
  /// Said before, so not counted again.
  public var repeated = 0
  /// Message ids that were not for this device, in the order given; what was said of them counts nowhere.
  public var unknown: [Int64] = []

  public init(counted: Int = 0, repeated: Int = 0, unknown: [Int64] = []) {
    self.counted = counted
    self.repeated = repeated
    self.unknown = unknown
  }
}

extension PushService {
  /// More in one call are not taken.
  public static let mostSayings = 100

  /// Returns once they are durable. Each kind counts once for a device and a push, so that saying it again is safe. A time
  /// to come is now.
  public func note(
    _ app: AppRecord, registrationID: String, _ sayings: [PushSaying]
  ) async throws(RequestFault) -> SayingsReceipt {
    guard 1...Self.mostSayings ~= sayings.count else {
      throw RequestFault(
        .deviceInvalidParameter, at: "reports", found: "\(sayings.count) entries",
        remedy: "Send 1 to \(Self.mostSayings) in one call.")
    }
    let now = clock.now
    let reports = sayings.map {
      DeviceReport(push: $0.messageID, kind: ReportKind($0.kind), at: min($0.at ?? now, now))
    }
    let answers = try await faulting(
      as: .device, await store.keep(reports, app: app.id, registrationID: registrationID, at: now))
    var receipt = SayingsReceipt()
    for (saying, answer) in zip(sayings, answers) {
      switch answer {
      case .counted:
        receipt.counted += 1
        metricCounts.change { $0.sayings[saying.kind.rawValue, default: 0] += 1 }
      case .repeated: receipt.repeated += 1
      case .notMeant: if !receipt.unknown.contains(saying.messageID) { receipt.unknown.append(saying.messageID) }
      }
    }
    return receipt
  }
}

extension ReportKind {
  fileprivate init(_ kind: PushSaying.Kind) {
    switch kind {
    case .received: self = .received
    case .shown: self = .shown
    case .clicked: self = .clicked
    }
  }
}

/// Whether a device had a push, as far as it has said.
public enum PushArrival: Sendable {
  /// It has said that it received, showed or opened it, or that it has its in-app message.
  case arrived
  /// It has not said so; it may have had it all the same.
  case notArrived
  /// The app has no such device.
  case noSuchDevice
  /// The app has no such push, or it was not for this device.
  case notTargeted

  init(_ standing: ReportStanding) {
    switch standing {
    case .reported: self = .arrived
    case .silent: self = .notArrived
    case .noSuchDevice: self = .noSuchDevice
    case .notTargeted: self = .notTargeted
    }
  }
}
