/// Why a call did not take effect. Safe to show and to log: it holds no token, secret or text of a push.
///
/// Numbers are JPush's where it has one for the case; they stay what they are. More may come: compare with those that you
/// handle, and treat the others by `isTemporary`.
public struct BelfryFault: Error, Hashable, Sendable, CustomStringConvertible {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// APNs has given no token: a simulator, no network at launch, or `register` was not called yet.
    public static let noToken = Code(rawValue: 1011)
    /// There is nothing in it: an empty alias or list of tags.
    public static let empty = Code(rawValue: 6001)
    /// No answer: no network, or none in time.
    public static let noAnswer = Code(rawValue: 6002)
    public static let aliasCharacters = Code(rawValue: 6003)
    /// More than 40 bytes.
    public static let aliasTooLong = Code(rawValue: 6004)
    public static let tagCharacters = Code(rawValue: 6005)
    /// More than 40 bytes.
    public static let tagTooLong = Code(rawValue: 6006)
    /// More than 1,000 in one call.
    public static let tooManyTags = Code(rawValue: 6007)
    public static let unknown = Code(rawValue: 6009)
    public static let tooFrequent = Code(rawValue: 6011)
    public static let serviceBusy = Code(rawValue: 6014)
    /// The service does not know the app key, registration id or secret.
    public static let notAuthorized = Code(rawValue: 6016)
    /// The service does not take it as it is.
    public static let invalid = Code(rawValue: 6017)
    /// The device would have more than 1,000.
    public static let tagsFull = Code(rawValue: 6018)
    /// The alias has as many devices as one may have.
    public static let aliasFull = Code(rawValue: 6027)
    /// The library's file on the disk cannot be read or written.
    public static let disk = Code(rawValue: 6100)
    /// Messages come only while there is a connection.
    public static let notConnected = Code(rawValue: 6101)
  }

  public let code: Code
  /// What was found, and what to do.
  public let words: String

  init(_ code: Code, _ words: String) {
    self.code = code
    self.words = words
  }

  init(_ fault: DatabaseFault) { self.init(.disk, "The library's file: \(fault.words). Is the disk full?") }

  /// The same call may succeed later.
  public var isTemporary: Bool {
    switch code {
    case .noToken, .noAnswer, .tooFrequent, .serviceBusy, .disk, .notConnected, .unknown: true
    default: false
    }
  }

  public var description: String { "\(code.rawValue): \(words)" }
}
