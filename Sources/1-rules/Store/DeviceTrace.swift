public import Audience
public import Basics

/// What is kept of one device in one push, read on one state of the store.
public struct DeviceTrace: Sendable, Equatable {
  public var push: StoredPush
  public var targeted: Int
  /// What held the push back or let it go on, oldest first.
  public var steps: [PushStep]
  /// As it is now.
  public var device: StoredDevice
  /// The same for the push's audience, with what its files say of the device.
  public var subject: AudienceSubject
  /// Its tags, alias or facts were changed after the push was accepted: what they were then is not kept.
  public var changedSince: Bool
  public var state: State
  /// The first later push under the same collapse id that APNs accepted for the device.
  public var replacedBy: Replacement?
  /// What the device said became of it.
  public var reports: [DeviceReport]

  public enum State: Sendable, Equatable {
    /// Not meant, or not to be sent to when the push was accepted.
    case notTargeted
    /// Not ended yet; `waiting` says why, if the push waits for an operator.
    case pending(waiting: String?)
    /// `at` is when the answer was kept, with those of its batch; nil when an older Belfry kept it.
    case accepted(at: Instant?)
    /// Any other end, with its time.
    case ended(DeviceOutcome, at: Instant)
  }

  public struct Replacement: Sendable, Equatable {
    public var push: Int64
    public var acceptedAt: Instant

    public init(push: Int64, acceptedAt: Instant) {
      self.push = push
      self.acceptedAt = acceptedAt
    }
  }

  public init(
    push: StoredPush, targeted: Int, steps: [PushStep], device: StoredDevice, subject: AudienceSubject,
    changedSince: Bool, state: State, replacedBy: Replacement?, reports: [DeviceReport]
  ) {
    self.push = push
    self.targeted = targeted
    self.steps = steps
    self.device = device
    self.subject = subject
    self.changedSince = changedSince
    self.state = state
    self.replacedBy = replacedBy
    self.reports = reports
  }
}

/// Something that happened to a push as a whole.
public struct PushStep: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    /// It waits for an operator: a credential, a topic.
    case waits(String)
    case goesOn
    case control(PushControl)
  }

  public var at: Instant
  public var kind: Kind

  public init(at: Instant, kind: Kind) {
    self.at = at
    self.kind = kind
  }
}

public enum DeviceTraceAnswer: Sendable, Equatable {
  case noSuchPush
  case noSuchDevice
  case found(DeviceTrace)
}
