import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where running phones are found: a folder that only its owner may look into, with a socket and a lock for each phone.
/// `BELFRY_PHONES` names it; else `belfry` in the user's runtime folder (XDG_RUNTIME_DIR), else `belfry-<uid>` in /tmp.
struct PhoneFolder: Sendable {
  let path: String

  /// Makes the folder where missing. Throws when it is not a folder of this user's alone: somebody else could put a
  /// socket of his own in it.
  init(_ environment: [String: String]) throws(CommandFault) {
    var facts = stat()
    if let named = environment["BELFRY_PHONES"], !named.isEmpty {
      path = Files.absolute(named)
    } else if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"), stat(runtime, &facts) == 0,
      facts.st_uid == geteuid()
    {
      path = runtime + "/belfry"
    } else {
      path = "/tmp/belfry-\(geteuid())"
    }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Self.fault(path, "cannot be made") }
    guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else {
      throw Self.fault(path, "is no folder")
    }
    guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
      throw Self.fault(path, "is not this user's alone (chmod 700)")
    }
  }

  private static func fault(_ path: String, _ what: String) -> CommandFault {
    CommandFault("\(path), where running phones are found, \(what); BELFRY_PHONES names another folder")
  }

  func socket(of udid: String) -> String { path + "/" + udid + ".sock" }
  func lock(of udid: String) -> String { path + "/" + udid + ".lock" }
  func log(of udid: String) -> String { path + "/" + udid + ".log" }

  /// Of every socket that lies there, sorted; whether a phone stands behind it is for a call to find out.
  var udids: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".sock") { found.append(String(name.dropLast(5))) }
    }
    return found.sorted()
  }
}

/// A phone's identifier, in the form of simctl's: the same for the same name, so that its tokens are found again.
enum PhoneIdentity {
  static func udid(of name: String) -> String {
    // FNV-1a, twice from different starts: 128 bits that need not be secret, only the same everywhere
    func hash(_ start: UInt64) -> UInt64 {
      name.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
    let text = UUIDText.version4(hash(0xCBF2_9CE4_8422_2325), hash(0x8422_2325_CBF2_9CE4), upperCase: true)
    return String(decoding: text, as: UTF8.self)
  }
}
