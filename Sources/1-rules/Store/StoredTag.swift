/// A tag that somebody has.
public struct StoredTag: Sendable, Hashable {
  public var name: String
  /// How many have it, whatever became of their tokens.
  public var devices: Int

  public init(name: String, devices: Int) {
    self.name = name
    self.devices = devices
  }
}

/// Who is to have a tag and who not any more, by registration id. Who is in both has it afterwards.
public struct TagEdit: Sendable, Equatable {
  public var add: [String] = []
  public var remove: [String] = []

  public init() {}
}

/// What became of an edit that names devices; all but `done` changed nothing.
public enum MembershipAnswer: Sendable, Equatable {
  /// So many gained or lost it.
  case done(changed: Int)
  /// The app has no such devices, in the order given.
  case noSuchDevices([String])
  /// It would have so many.
  case tooManyTags(Int, registrationID: String)
}
