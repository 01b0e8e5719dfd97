import PushPayload

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

/// What is heard of a notification (D-220 … D-225).
extension Phone {
  /// The mute switch turns every sound but a critical one into a vibration (D-224, D-225).
  mutating func sound(named name: String, _ level: Level, _ app: Int) -> TimelineEntry.Shown.Sound {
    if settings.mute, level != .critical { return .vibration }
    return playable(name, app).map { .file($0) } ?? .system
  }

  /// The file that plays; nil, and told: the system's sound does.
  private mutating func playable(_ name: String, _ app: Int) -> String? {
    guard name != "default" else { return nil }
    let files = apps[app].description.sounds.filter { $0.name == name }
    guard let file = files.min(by: { $0.place.rawValue < $1.place.rawValue }) else {
      record(.system("no sound file \(name) in the app: the system sound plays"), app, "D-223")
      return nil
    }
    guard let flaw = file.flaw else { return name }
    record(.system("the sound file \(name) \(flaw): the system sound plays"), app, "D-222")
    return nil
  }
}
