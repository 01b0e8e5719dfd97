import Dispatch
public import Store

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension StoreSQLite {
  /// Writes the folder's database as it is at one moment to a file of its own, mode 0600, whether or not a process has
  /// the folder; nobody waits for it. The file is whole and on disk when this returns; a fault or an end of the process
  /// leaves none of that name. Another file of that name is never written over.
  ///
  /// - Throws: `.unusable` when the folder has no database, or the file is there or cannot be written.
  public static func backUp(folder: String, to path: String) async throws(StoreFault) {
    try await aside { () throws(StoreFault) in
      guard exists(inFolder: folder) else { throw .unusable("\(folder) has no database of Belfry") }
      let database = try Database(path: DataFolder.database(in: folder), .readOnly)
      try database.execute("PRAGMA busy_timeout = 5000")
      try WholeFile.write(path) { partial throws(StoreFault) in try database.run("VACUUM INTO ?", .text(partial)) }
    }
  }

  /// Puts a backup into a folder that has no database; it is made when missing. The file is brought to the present schema
  /// at the next opening, not here.
  ///
  /// - Throws: `.unusable` when the folder has a database or is in use, or the file is of a newer Belfry or of none;
  ///   `.corrupt` when the file is damaged.
  public static func restore(_ path: String, toFolder folder: String) async throws(StoreFault) {
    try await aside { () throws(StoreFault) in
      guard access(path, R_OK) == 0 else { throw .unusable("\(path) cannot be read") }
      let backup = try Database(path: path, .readOnly)
      try Schema.check(backup)
      let finding = try backup.first("PRAGMA quick_check(1)") { $0.text(0) }
      guard finding == "ok" else { throw .corrupt("\(path) is damaged: \(finding ?? "")") }
      guard !exists(inFolder: folder) else { throw .unusable("\(folder) has a database, which is not written over") }
      let lock = try DataFolder(folder, makesDatabase: false)
      defer { lock.release() }
      try WholeFile.write(lock.database) { partial throws(StoreFault) in try backup.run("VACUUM INTO ?", .text(partial))
      }
    }
  }

  private static func aside(_ body: @escaping @Sendable () throws(StoreFault) -> Void) async throws(StoreFault) {
    let answer: Result<Void, StoreFault> = await withCheckedContinuation { continuation in
      DispatchQueue(label: "belfry.store.backup").async {
        do throws(StoreFault) { continuation.resume(returning: .success(try body())) } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    try answer.get()
  }
}

/// A file that is there whole or not at all.
private enum WholeFile {
  /// Has `body` write a file beside, and gives it its name when it is on disk.
  static func write(_ path: String, _ body: (String) throws(StoreFault) -> Void) throws(StoreFault) {
    guard access(path, F_OK) != 0 else { throw .unusable("\(path) is there already, and is not written over") }
    let partial = "\(path).\(getpid()).partial"
    let file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unusable("\(path) cannot be written: \(String(cString: strerror(errno)))") }
    defer {
      close(file)
      unlink(partial)
    }
    try body(partial)
    guard fsync(file) == 0, link(partial, path) == 0 else {
      throw .unusable("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    let slash = path.lastIndex(of: "/")
    let folder = open(slash.map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }
}
