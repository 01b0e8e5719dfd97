import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Runs `body` with a folder of its own that is gone afterwards, with the files in it.
func withFolder(_ body: (String) async throws -> Void) async throws {
  var template = Array("/tmp/belfry-apns-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  defer { removeFolder(path) }
  try await body(path)
}

/// Removes a folder and the files in it; it may be gone already.
func removeFolder(_ path: String) {
  if let folder = opendir(path) {
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      unlink("\(path)/\(name)")
    }
    closedir(folder)
  }
  rmdir(path)
}
