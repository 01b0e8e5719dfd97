/// The id of a rule of the device specification (`D-104`) or of a case (`C22`); every decision in a timeline names one.
public struct Rule: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  public let id: String

  public init(stringLiteral id: String) { self.id = id }

  public var description: String { id }
}
