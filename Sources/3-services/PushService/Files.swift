public import Basics
import Store

/// A file of names that can be an audience (jpush.md §5.5).
public struct AudienceFile: Sendable, Hashable {
  public enum Kind: Sendable {
    case alias
    case registrationID
  }

  public var id: String
  public var kind: Kind
  public var name: String
  public var createdAt: Instant
  public var expiresAt: Instant
}

/// A file as it came.
public struct FileUpload: Sendable {
  public var name: String
  /// One name a line.
  public var content: ArraySlice<UInt8>
  /// How long it is to be kept; nil: as long as may be.
  public var hours: Int64?
  /// By which the request is known again as long as its file is kept; nil: it is a new one.
  public var clientID: String?
  /// Where in the request the content stands, for faults.
  public var place: String

  public init(name: String, content: ArraySlice<UInt8>, hours: Int64?, clientID: String? = nil, place: String) {
    self.name = name
    self.content = content
    self.hours = hours
    self.clientID = clientID
    self.place = place
  }

  /// Of all that the file would be, in hex.
  fileprivate func digest(_ kind: AudienceFile.Kind) -> String {
    let head = "\(kind) \(hours ?? 0) \(name)"
    return Sodium.hash(Array(head.utf8) + Sodium.hash(Array(content))).hex
  }
}

/// Whose a file is.
public enum FileOwner: Sendable {
  case app(AppRecord)
  /// For every app: what a group is pushed to by.
  case developer(DeveloperRecord)

  var app: Int64? { record?.id }

  fileprivate var record: AppRecord? {
    switch self {
    case .app(let app): app
    case .developer: nil
    }
  }

  private var key: String {
    switch self {
    case .app(let app): app.key
    case .developer(let developer): developer.key
    }
  }

  func newID() -> String { "\(key)-\(Sodium.randomUUID())" }

  /// What the ids of files begin with that were kept under the client id; what the file is tells the rest.
  func idPrefix(for clientID: String) -> String {
    "\(key)-\(Sodium.hash(Array(clientID.utf8)).hex.prefix(16))-"
  }
}

extension PushService {
  /// Bytes of a file.
  public static let largestFile = 10 << 20
  private static let mostFiles = 20
  /// Hours that a file is kept at most.
  public static let longestFileLife: Int64 = 720

  /// Keeps a text with one name a line, each without what is blank around it; empty lines are nothing. Whole or not at
  /// all, durable once it is answered.
  public func keepFile(
    _ owner: FileOwner, _ kind: AudienceFile.Kind, _ upload: FileUpload
  ) async throws(RequestFault) -> (file: AudienceFile, isRepeated: Bool) {
    let hours = upload.hours ?? Self.longestFileLife
    guard 1...Self.longestFileLife ~= hours else {
      throw RequestFault(
        .invalidParameter, at: "ttl", found: "\(hours) hours", remedy: "Give 1 to \(Self.longestFileLife) hours.")
    }
    guard upload.content.count <= Self.largestFile else {
      throw RequestFault(
        .tooLarge, at: upload.place, found: "a file of \(upload.content.count) bytes",
        remedy: "At most \(Self.largestFile) bytes are taken: make two of it.")
    }
    var id = owner.newID()
    if let clientID = upload.clientID {
      let prefix = owner.idPrefix(for: clientID)
      id = prefix + upload.digest(kind).prefix(16)
      if let known = try await files(owner).first(where: { $0.id.hasPrefix(prefix) }) {
        guard known.id == id else {
          throw RequestFault(
            .conflict, at: "Idempotency-Key", found: "another file was kept under this key",
            remedy: "Use a new key for another file.")
        }
        return (known, true)
      }
    }
    let parts = try NameFile.parts(of: upload.content, kind == .alias ? .alias : .registrationID, at: upload.place)
    let now = clock.now
    let file = StoredFile(
      id: id, app: owner.app, kind: kind == .alias ? .alias : .registrationID,
      name: String(upload.name.prefix(255)), createdAt: now, expiresAt: now + .hours(hours))
    let note = AuditNote(.fileAdded, of: owner.record, at: now, subject: file.id, words: file.name)
    let isKept = try await faulting(
      as: .push, await store.keepFile(file, parts: parts, limit: Self.mostFiles, audit: note))
    guard isKept else {
      throw RequestFault(
        .overLimit, found: "there are \(Self.mostFiles) files already",
        remedy: "Delete one, or wait for one to expire.")
    }
    return (AudienceFile(file), false)
  }

  /// Those that have not expired, oldest first.
  public func files(_ owner: FileOwner) async throws(RequestFault) -> [AudienceFile] {
    try await faulting(as: .push, await store.files(app: owner.app, at: clock.now).map(AudienceFile.init))
  }

  /// 1003 when the owner has no such file, or it has expired.
  public func file(_ owner: FileOwner, id: String) async throws(RequestFault) -> AudienceFile {
    let file = try await faulting(as: .push, await store.file(id: id, at: clock.now))
    guard let file, file.app == owner.app else { throw Self.noSuchFile(id, at: "file_id") }
    return AudienceFile(file)
  }

  /// Nothing happens without such a file.
  public func deleteFile(_ owner: FileOwner, id: String) async throws(RequestFault) {
    let note = AuditNote(.fileDeleted, of: owner.record, at: clock.now, subject: String(id.prefix(64)))
    try await faulting(as: .push, await store.deleteFile(app: owner.app, id: id, audit: note))
  }

  /// 1003 unless the app may push to it: its own, or a developer's.
  func checkFile(_ app: AppRecord, id: String) async throws(RequestFault) {
    let file = try await faulting(as: .push, await store.file(id: id, at: clock.now))
    guard let file, file.app == nil || file.app == app.id else {
      throw Self.noSuchFile(id, at: "audience.file")
    }
  }

  private static func noSuchFile(_ id: String, at place: String) -> RequestFault {
    RequestFault(
      .invalidParameter, at: place, found: "there is no file \(quoted(id)), or it has expired",
      remedy: "Upload it: POST /v1/files, or /v3/files/alias and /v3/files/registration_id.")
  }
}

/// A text with one name a line.
enum NameFile {
  private static let partSize = 64 << 10

  /// In pieces of whole lines, each ended by a line feed. A fault names the line.
  static func parts(
    of content: ArraySlice<UInt8>, _ rule: NameRule, at place: String
  ) throws(RequestFault) -> [[UInt8]] {
    var content = content
    if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }  // a byte order mark
    var parts: [[UInt8]] = []
    var part: [UInt8] = []
    var number = 0
    for line in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      let name = line.trimmingBlanks
      guard !name.isEmpty else { continue }
      guard let text = String(validating: name, as: UTF8.self) else {
        throw RequestFault(
          .invalidParameter, at: "\(place), line \(number)", found: "it is no UTF-8", remedy: "Save the file as UTF-8.")
      }
      try rule.check(text, .invalidParameter, at: "\(place), line \(number)")
      if part.count + name.count + 1 > partSize {
        parts.append(part)
        part = []
      }
      part += name
      part.append(UInt8(ascii: "\n"))
    }
    if !part.isEmpty { parts.append(part) }
    guard !parts.isEmpty else {
      throw RequestFault(
        .invalidParameter, at: place, found: "the file names nobody", remedy: "Write one name a line.")
    }
    return parts
  }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmingBlanks: Self {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || 0x09...0x0D ~= byte }
    var rest = drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }
}

extension AudienceFile {
  init(_ file: StoredFile) {
    let kind: Kind =
      switch file.kind {
      case .alias: .alias
      case .registrationID: .registrationID
      }
    self.init(id: file.id, kind: kind, name: file.name, createdAt: file.createdAt, expiresAt: file.expiresAt)
  }
}
