/// What operators want to know as it happens. Holds no token, secret or payload text.
public enum ServiceEvent: Sendable, Equatable {
  /// A credential is refused, or a topic is wrong for many devices: told once until it works again (cases C26, C37).
  case alarm(appKey: String, messageID: Int64, reason: String)
  case alarmOver(appKey: String)
  case accepted(appKey: String, messageID: Int64, targeted: Int)
  case finished(appKey: String, messageID: Int64)
  case tokenRetired(appKey: String, registrationID: String, reason: String)
  /// An answer that would have retired a token but is older than its registration (case C16).
  case tokenKept(appKey: String, registrationID: String, reason: String)
  /// A credential for APNs came, was replaced or went, in this process.
  case credentialChanged(appKey: String, words: String)
  /// Due times of a schedule passed without a push: nobody was there, or its push was refused.
  case scheduleTrouble(scheduleID: String, words: String)
  /// A webhook did not take what it was told; told once until it does. `words` has its answer.
  case webhookTrouble(appKey: String, webhookID: Int64, words: String)
  /// Events that a webhook did not take in time went untold; nil: those of a push's own address.
  case webhookEventsDropped(appKey: String, webhookID: Int64?, count: Int)
  /// The store refused an operation; what was asked of it will be tried again or was answered 1030.
  case storeTrouble(String)
}

/// One number of `/metrics`, in the terms of OpenMetrics.
public struct Metric: Sendable, Equatable {
  /// A histogram is several numbers of one name, told apart by `suffix`: `_bucket` with the label `le`, `_sum`, `_count`.
  public enum Kind: Sendable { case counter, gauge, histogram }
  public var name: String
  public var help: String
  public var kind: Kind
  public var labels: [Label]
  public var value: Double
  /// What follows the name on the line of the number; empty unless `kind` is histogram.
  public var suffix: String

  public struct Label: Sendable, Equatable {
    public var name: String
    public var value: String
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(name: String, help: String, kind: Kind, labels: [Label] = [], value: Double, suffix: String = "") {
    self.name = name
    self.help = help
    self.kind = kind
    self.labels = labels
    self.value = value
    self.suffix = suffix
  }
}
