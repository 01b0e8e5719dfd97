/// Why a credential cannot be used. Safe to show: names the file, holds nothing of the key.
public struct CredentialFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file.
  public let name: String
  /// What was found, in words.
  public let found: String
  /// What to do next; a whole sentence.
  public let remedy: String

  public init(name: String, found: String, remedy: String) {
    self.name = name
    self.found = found
    self.remedy = remedy
  }

  public var description: String { "\(name): \(found). \(remedy)" }
}
