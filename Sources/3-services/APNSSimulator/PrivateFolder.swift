#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A folder whose files only its owner may read.
struct PrivateFolder: Sendable {
  let path: String

  /// Makes the folder, and those above it, with mode 0700 where missing.
  init(_ path: String) throws(SimulatorFault) {
    self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var made = ""
    for (place, part) in self.path.split(separator: "/", omittingEmptySubsequences: false).enumerated() {
      made += place == 0 ? String(part) : "/" + part
      guard !made.isEmpty, mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
      let cause = errno
      guard access(made, F_OK) != 0 else { continue }
      throw Self.fault("the folder \(made) cannot be made", cause)
    }
    guard access(self.path, W_OK | X_OK) == 0 else { throw Self.fault("the folder \(path) cannot be written", errno) }
  }

  func path(of name: String) -> String { path + "/" + name }

  /// Makes an empty file with mode 0600 where there is none, for a library that would make it readable for all.
  func prepare(_ name: String) throws(SimulatorFault) {
    let descriptor = open(path(of: name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.fault("\(path(of: name)) cannot be written", errno) }
    close(descriptor)
  }

  /// nil when there is no such file.
  func read(_ name: String) throws(SimulatorFault) -> [UInt8]? {
    let descriptor = open(path(of: name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.fault("\(path(of: name)) cannot be read", errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = systemRead(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      guard count > 0 else { throw Self.fault("\(path(of: name)) cannot be read", errno) }
      bytes += chunk.prefix(count)
    }
  }

  /// Mode 0600; the old content or the new is there at any time, never a part.
  func write(_ bytes: [UInt8], to name: String) throws(SimulatorFault) {
    let target = path(of: name)
    let draft = target + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.fault("\(target) cannot be written", errno) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let cause = errno
        close(descriptor)
        unlink(draft)
        throw Self.fault("\(target) cannot be written", cause)
      }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
    guard rename(draft, target) == 0 else { throw Self.fault("\(target) cannot be written", errno) }
  }

  private static func fault(_ what: String, _ cause: Int32) -> SimulatorFault {
    SimulatorFault(
      what: "\(what): \(String(cString: strerror(cause)))", remedy: "Give a folder that can be written (--data DIR).")
  }
}

/// Says that one process works on a folder, as long as this lives and is not released; a killed process says it no more.
final class FolderLock: Sendable {
  private let descriptor: Int32

  init(_ folder: PrivateFolder) throws(SimulatorFault) {
    try folder.prepare("lock")
    descriptor = open(folder.path(of: "lock"), O_RDWR | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      throw SimulatorFault(
        what: "the folder \(folder.path) is in use by another simulated APNs",
        remedy: "Stop that one, or give another folder (--data DIR).")
    }
  }

  deinit { close(descriptor) }

  func release() { flock(descriptor, LOCK_UN) }
}

// The folder's own `read` and `write` hide the system's.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}
