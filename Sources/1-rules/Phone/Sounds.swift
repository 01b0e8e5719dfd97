/// A sound file that an app brings or has put on the phone (D-220 … D-223). A plain name stands for a good file in the
/// bundle.
public struct SoundFile: Hashable, Sendable, ExpressibleByStringLiteral {
  /// With its extension, as a push names it.
  public var name: String
  public var place: Place
  public var encoding: Encoding
  public var seconds: Double

  public init(_ name: String, in place: Place = .bundle, encoding: Encoding = .linearPCM, seconds: Double = 1) {
    self.name = name
    self.place = place
    self.encoding = encoding
    self.seconds = seconds
  }

  public init(stringLiteral name: String) { self.init(name) }

  /// In the order in which the system looks; the first file of the name counts (D-221).
  public enum Place: Int, CaseIterable, Sendable {
    /// `Library/Sounds` of the app's container.
    case container
    /// `Library/Sounds` of a shared group's container.
    case group
    case bundle
  }

  public enum Encoding: String, CaseIterable, Sendable {
    case linearPCM, ima4, muLaw, aLaw
    /// MP3, AAC and whatever else the system's sounds cannot play.
    case other
  }

  /// Why the system's sound plays in its place (D-222); nil: it plays.
  public var flaw: String? {
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() }
    guard let ending, ["aiff", "aif", "wav", "caf"].contains(ending) else { return "is no aiff, wav or caf file" }
    guard encoding != .other else { return "is neither linear PCM, IMA4, µLaw nor aLaw" }
    return seconds > 30 ? "is longer than 30 s" : nil
  }
}
