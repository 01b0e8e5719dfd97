import Basics
import PushPayload
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The files that both sides of a measurement share: certificates, the provider key, a web root with a file for each
/// device token, and what h2load reads. Removed at the end.
struct Scene {
  static let usualTokens = 20_000
  static let keyID = "ABC123DEFG"
  static let teamID = "DEF123GHIJ"
  /// Bytes of the body; ours is as long, but each has its own badge and message id.
  static let body = PushSource.sample

  let folder: String
  /// `bearer <JWT>` for those who cannot sign; ours signs its own.
  private(set) var authorization: String

  /// With so many device tokens, each with a file of its own.
  init(tokens: Int = usualTokens) throws {
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"  // files that cost no disk
    var template = Array("\(parent)/belfry-bench.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchFault("no temporary folder: \(String(cString: strerror(errno)))")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let now = SystemClock().now
    let authority = try CertificateAuthority.create(
      commonName: "Benchmark", notBefore: now - .days(1), notAfter: now + .days(30))
    let server = try authority.issueServer(
      names: ["127.0.0.1"], notBefore: now - .days(1), notAfter: now + .days(30))
    let signing = try P256PrivateKey.generate()
    authorization = try bearer(signing, keyID: Self.keyID, teamID: Self.teamID, at: now)
    try Self.write(authority.pem, to: "\(folder)/ca.pem")
    try Self.write(server.pem, to: "\(folder)/server.pem")
    try Self.write(signing.pem, to: "\(folder)/key.p8")
    try Self.write(Self.body, to: "\(folder)/body")
    let credential: JSONObject = [
      "keyId": .string(Self.keyID), "teamId": .string(Self.teamID), "bundle": .string(PushSource.topic),
    ]
    try Self.write(Array(JSONValue.object(credential).text.utf8), to: "\(folder)/credential.json")
    try makeRoot(tokens)
  }

  /// The same with a provider token by the key that lies in the folder now.
  func signedByItsKey() throws -> Scene {
    var scene = self
    let credential = try JSONReader.read(contents(of: "\(folder)/credential.json")).value.object
    scene.authorization = try bearer(
      P256PrivateKey(pem: contents(of: "\(folder)/key.p8")), keyID: credential?["keyId"]?.string ?? "",
      teamID: credential?["teamId"]?.string ?? "", at: SystemClock().now)
    return scene
  }

  private func makeRoot(_ count: Int) throws {
    let devices = "\(folder)/root/3/device"
    for path in ["\(folder)/root", "\(folder)/root/3", devices] { mkdir(path, 0o700) }
    try Self.write([], to: "\(devices)/none")
    var dice = Dice(seed: 1)
    var text: [UInt8] = []
    for _ in 0..<count {
      let token = (0..<4).flatMap { _ in bytes(of: dice.next()) }.hex
      guard link("\(devices)/none", "\(devices)/\(token)") == 0 else { throw BenchFault("cannot link in \(devices)") }
      text += token.utf8
      text.append(UInt8(ascii: "\n"))
    }
    try Self.write(text, to: "\(folder)/tokens")
  }

  /// What each h2load reads: a URI for each token, dealt out to so many lists.
  func writeURIs(port: UInt16, lists count: Int) throws -> [String] {
    let tokens = try lines(of: "\(folder)/tokens")
    return try (0..<count).map { list in
      let path = "\(folder)/uris\(list)"
      let uris = stride(from: list, to: tokens.count, by: count).map {
        "https://127.0.0.1:\(port)/3/device/\(tokens[$0])\n"
      }
      try Self.write(Array(uris.joined().utf8), to: path)
      return path
    }
  }

  func remove() {
    for path in ["root/3/device", "root/3", "root", ""] {
      let place = path.isEmpty ? folder : "\(folder)/\(path)"
      guard let directory = opendir(place) else { continue }
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        unlink("\(place)/\(name)")
      }
      closedir(directory)
      rmdir(place)
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw BenchFault("cannot write \(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { putBytes(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw BenchFault("cannot write \(path): \(String(cString: strerror(errno)))") }
      done += count
    }
  }
}

private let putBytes = write

/// A provider token as APNs wants it (RFC 7519).
func bearer(_ key: P256PrivateKey, keyID: String, teamID: String, at now: Instant) throws -> String {
  let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8.base64URL
  let claims = #"{"iss":"\#(teamID)","iat":\#(now.seconds)}"#.utf8.base64URL
  guard let signature = key.signature(of: Array("\(header).\(claims)".utf8)) else { throw BenchFault("cannot sign") }
  return "bearer \(header).\(claims).\(signature.base64URL)"
}

private func bytes(of number: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
}

func contents(of path: String) throws -> [UInt8] {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { throw BenchFault("cannot read \(path): \(String(cString: strerror(errno)))") }
  defer { close(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(file, &buffer, buffer.count)
    guard count > 0 else { return bytes }
    bytes += buffer[..<count]
  }
}

func lines(of path: String) throws -> [String] {
  try contents(of: path).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
}

/// A port that was free a moment ago.
func freePort() throws -> UInt16 {
  let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(probe) }
  var address = loopback(port: 0)
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let done = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(probe, $0, size) == 0 && getsockname(probe, $0, &size) == 0
    }
  }
  guard done else { throw BenchFault("no free port") }
  return UInt16(bigEndian: address.sin_port)
}

func loopback(port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

/// The peer of APNs: nghttp2's own server, one thread on its own core.
struct Nghttpd {
  let port: UInt16
  private let child: Child

  init(_ scene: Scene, streams: Int = 1000) throws {
    port = try freePort()
    child = try Child(
      [
        "nghttpd", "-d", "\(scene.folder)/root", "-m", String(streams), "-w", "16", "-W", "24", "-a", "127.0.0.1",
        String(port), "\(scene.folder)/server.pem", "\(scene.folder)/server.pem",
      ], core: Core.server)
    try awaitPort(port)
  }

  func stop() { child.stop() }
}

/// Returns once something listens there.
func awaitPort(_ port: UInt16) throws {
  for _ in 0..<500 {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: port)
    let isUp = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    close(probe)
    if isUp { return }
    usleep(10_000)
  }
  throw BenchFault("nothing listens on port \(port) after 5 s")
}
