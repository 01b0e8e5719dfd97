public import Basics

/// What may go wrong with a push, judged before it is sent: APNs itself checks little of a body (spec lint.md).
public enum Lint {}

/// What is known of a push beside its body.
public struct LintContext: Sendable {
  /// How the body is written.
  public enum Form: Sendable, Equatable {
    case json
    /// The notation of device logs: `{ aps = { alert = "…"; }; }` (see `PlistReader`).
    case plist
  }

  public var form = Form.json
  /// Headers that will be sent with it. When empty, headers are taken as unknown and not judged.
  public var headers = PushHeaders()
  /// Says that `headers` is all that will be sent, so that what is absent there is judged too.
  public var headersAreComplete = false
  /// The time of day, to tell what is past; nil leaves the past unjudged.
  public var now: Instant?
  /// Sent to a channel instead of a device token.
  public var isBroadcast = false
  /// Apple's form for the Simulator: the key `Simulator Target Bundle` is not sent and names the app.
  public var isSimulatorFile = false
  /// The same headers go with several different pushes.
  public var isTemplate = false

  public init() {}
}

public enum Severity: String, CaseIterable, Comparable, Sendable {
  /// APNs or iOS will refuse or ignore it.
  case error
  /// It will surprise.
  case warning
  case hint

  public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .hint: 0
    case .warning: 1
    case .error: 2
    }
  }
}

public struct Finding: Hashable, Sendable {
  public var code: LintCode
  public var severity: Severity
  /// Where in the payload; `$` when the whole is meant or the text could not be read.
  public var path: JSONPath
  /// The header that is meant, if it is one.
  public var header: PushHeaders.Name?
  /// Byte offset from 0; line and column from 1, the column in Unicode scalars. For a header: the start of the payload.
  public var offset: Int
  public var line: Int
  public var column: Int
  /// Bytes from `offset` that are meant; at least 1 unless the text ends there.
  public var length: Int
  /// What was found; a sentence without its full stop.
  public var message: String
  /// What happens on the phone, or at APNs; a sentence.
  public var effect: String
  /// What to write instead; a sentence.
  public var fix: String
}
