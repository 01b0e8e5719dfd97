#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandFault {
  /// Why the data folder cannot be used, with its name said once.
  init(dataFolder folder: String, _ fault: any Error) {
    let words = "\(fault)"
    self.init((words.contains(folder) ? words : "\(folder): \(words)") + "; --data names another folder")
  }
}

/// Reading and writing whole files, with faults that name the file.
enum Files {
  static func read(_ path: String) throws(CommandFault) -> [UInt8] {
    do { return [UInt8](try Data(contentsOf: URL(filePath: path))) } catch {
      throw CommandFault("\(path): cannot be read; is the name right, and may this user read it?")
    }
  }

  /// Changes when the file is written or another takes its place; nil when there is none.
  static func stamp(_ path: String) -> String? {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
    let time = (facts[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    return "\(time) \(facts[.size] ?? 0) \(facts[.systemFileNumber] ?? 0)"
  }

  /// In bytes; nil when there is no such file.
  static func size(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }

  /// The permission bits, as `chmod` has them; nil when there is no such file.
  static func permissions(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
  }

  /// The last part of a path.
  static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The first line, without its end: a password as editors leave it in a file.
  static func firstLine(of bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }

  /// Writes with mode 0600: for what only this user may read.
  static func writePrivate(_ text: String, to path: String) throws(CommandFault) {
    let made = FileManager.default.createFile(
      atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    guard made else { throw CommandFault("\(path): cannot be written; is its folder writable?") }
  }

  static func write(_ text: String, to path: String) throws(CommandFault) {
    do { try Data(text.utf8).write(to: URL(filePath: path)) } catch {
      throw CommandFault("\(path): cannot be written; is its folder there, and writable?")
    }
  }

  static func makeFolder(_ path: String) throws(CommandFault) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CommandFault("\(path): this folder cannot be made; name another with --data")
    }
  }

  static func temporaryFolder(_ name: String) throws(CommandFault) -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString.lowercased())")
    let path = folder.path(percentEncoded: false)
    try makeFolder(path)
    return path
  }

  /// Seen from the folder that the process was started in.
  static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
