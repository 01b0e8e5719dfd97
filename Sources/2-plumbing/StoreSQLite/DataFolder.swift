import Basics
import Store

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder that holds everything a Belfry keeps, locked for one process as long as this lives, unless it was opened
/// beside the process that has it.
final class DataFolder: Sendable {
  let path: String
  private let lock: Locked<Int32>

  var database: String { Self.database(in: path) }

  static func database(in path: String) -> String { path + "/belfry.db" }

  static func hasDatabase(_ path: String) -> Bool { access(database(in: path), F_OK) == 0 }

  /// Makes the folder, for its owner only, when it is not there. `isShared` takes no lock;
  /// without `makesDatabase` the place of the database stays free.
  init(_ path: String, isShared: Bool = false, makesDatabase: Bool = true) throws(StoreFault) {
    self.path = path
    try Self.make(path)
    let lockFile = path + "/lock"
    let lock = open(lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw .unusable("cannot write in the data folder \(path): \(words(errno))") }
    self.lock = Locked(lock)
    // Before SQLite makes it readable for all; its log files take the same mode.
    if makesDatabase {
      let file = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if file >= 0 { close(file) }
    }
    guard !isShared else { return }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let error = errno
      guard error == EWOULDBLOCK else { throw .unusable("cannot lock \(lockFile): \(words(error))") }
      throw .unusable("the data folder \(path) is in use by another Belfry\(Self.owner(lock))")
    }
    let pid = Array("\(getpid())\n".utf8)
    _ = ftruncate(lock, 0)
    _ = pwrite(lock, pid, pid.count, 0)
  }

  deinit { release() }

  func release() {
    lock.withLock { lock in
      if lock >= 0 { close(lock) }
      lock = -1
    }
  }

  private static func make(_ path: String) throws(StoreFault) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      try make(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw .unusable("cannot make the data folder \(path): \(words(errno))")
  }

  private static func owner(_ lock: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = pread(lock, &bytes, bytes.count, 0)
    let digits = bytes.prefix(max(0, count)).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
  }
}

private func words(_ error: Int32) -> String { String(cString: strerror(error)) }
