import PushService

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension SealingKey {
  /// Where a process takes the key from: the variable that holds it, else the file that another variable names, else
  /// `sealing.key` in the data folder, which is made when it is not there.
  enum Source: Equatable {
    static let variable = "BELFRY_SEALING_KEY"
    static let fileVariable = "BELFRY_SEALING_KEY_FILE"

    case text(String)
    case file(String)
    case dataFolder

    init(_ environment: [String: String]) {
      if let text = environment[Self.variable], !text.isEmpty {
        self = .text(text)
      } else if let path = environment[Self.fileVariable], !path.isEmpty {
        self = .file(path)
      } else {
        self = .dataFolder
      }
    }

    /// For `belfry config`, which shows no key.
    var row: (name: String, value: String, origin: String) {
      switch self {
      case .text: ("sealingKey", "given", ServeConfiguration.Origin.variable(Self.variable).words)
      case .file(let path): ("sealingKey", path, ServeConfiguration.Origin.variable(Self.fileVariable).words)
      case .dataFolder: ("sealingKey", "sealing.key in the data folder", ServeConfiguration.Origin.standard.words)
      }
    }
  }

  /// - Throws: where no key of 64 hex digits stands. A file that is named must be there: a slip of the hand would else make
  ///   a new key, under which nothing opens.
  static func read(_ source: Source, dataFolder: String) throws(CommandFault) -> SealingKey {
    switch source {
    case .text(let text): return try key(text, at: Source.variable)
    case .file(let path): return try key(String(decoding: try Files.read(path), as: UTF8.self), at: path)
    case .dataFolder:
      let path = file(inFolder: dataFolder)
      if Files.stamp(path) == nil { try Files.addPrivate(SealingKey.random().hex + "\n", at: path) }
      return try key(String(decoding: try Files.read(path), as: UTF8.self), at: path)
    }
  }

  /// Puts a new key before those that the source has, and answers all; the file is whole at any moment, with the old ones or
  /// with the new one too. nil where the key stands in a variable, which only whoever sets it can change.
  static func renew(_ source: Source, dataFolder: String) throws(CommandFault) -> SealingKey? {
    let path: String
    switch source {
    case .text: return nil
    case .file(let named): path = named
    case .dataFolder: path = file(inFolder: dataFolder)
    }
    let renewed = try read(source, dataFolder: dataFolder).renewed()
    try Files.replacePrivate(renewed.hex + "\n", at: path)
    return renewed
  }

  static func file(inFolder folder: String) -> String { folder + "/sealing.key" }

  private static func key(_ text: String, at place: String) throws(CommandFault) -> SealingKey {
    guard let key = SealingKey(hex: text) else {
      throw CommandFault("\(place): no sealing key; give 64 hex digits, as 'openssl rand -hex 32' prints them")
    }
    return key
  }
}

extension Files {
  /// Writes a new file with mode 0600, whole and on disk when this returns. One that is there already stays as it is, also
  /// when another process makes it at the same moment.
  static func addPrivate(_ text: String, at path: String) throws(CommandFault) {
    try writeBeside(text, path) { link($0, path) == 0 || errno == EEXIST }
  }

  /// The same in the place of the file that is there.
  static func replacePrivate(_ text: String, at path: String) throws(CommandFault) {
    try writeBeside(text, path) { rename($0, path) == 0 }
  }

  /// `settle` gives the written file its name.
  private static func writeBeside(
    _ text: String, _ path: String, settle: (UnsafePointer<CChar>) -> Bool
  ) throws(CommandFault) {
    var partial = Array("\(path).XXXXXX".utf8CString)
    let file = mkstemp(&partial)  // mode 0600
    guard file >= 0 else { throw unwritable(path) }
    defer {
      close(file)
      unlink(partial)
    }
    let bytes = Array(text.utf8)
    guard pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0, settle(partial) else {
      throw unwritable(path)
    }
    let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  private static func unwritable(_ path: String) -> CommandFault {
    CommandFault("\(path): cannot be written: \(String(cString: strerror(errno)))")
  }
}
