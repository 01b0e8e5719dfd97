import Basics
import Synchronization

@testable import Transport

/// A proxy on real sockets that does what a test says, also what no proxy should.
final class ScriptedProxy: Sendable {
  enum Conduct: Sendable {
    /// Speaks CONNECT and brings it to the target; `password` as the header has it, nil to ask for none.
    case connect(authorization: String? = nil, inPieces: Bool = false)
    /// Speaks SOCKS 5; with `password`, by user "lin".
    case socks5(password: String? = nil, inPieces: Bool = false)
    /// Says this to whatever comes first, and closes.
    case says(String)
    case silent
    case closes
  }

  let endpoint: Endpoint
  private let listener: StreamListener
  private let loops: LoopGroup
  private let seen: Locked<Seen>

  struct Seen: Sendable {
    var connections = 0
    /// What clients wanted to reach, as they said it.
    var wanted: [String] = []
  }

  private init(_ listener: StreamListener, _ loops: LoopGroup, _ seen: Locked<Seen>, _ tunnels: Tunnels) {
    self.listener = listener
    self.loops = loops
    self.seen = seen
    self.tunnels = tunnels
    endpoint = listener.endpoint
  }

  /// `conduct` is asked for each connection, which count from 0.
  static func start(
    to target: Endpoint, conduct: @escaping @Sendable (Int) -> Conduct
  ) async throws -> ScriptedProxy {
    let loops = LoopGroup(count: 1)
    let seen = Locked(Seen())
    let tunnels = Tunnels(loops.loops[0])
    let listener = try await StreamListener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: nil, limits: StreamLimits()
    ) { stream in
      let number = seen.withLock { seen in
        seen.connections += 1
        return seen.connections - 1
      }
      let tunnel = Tunnel(stream, target, conduct(number), seen)
      tunnels.all.append(tunnel)
      return tunnel
    }
    return ScriptedProxy(listener, loops, seen, tunnels)
  }

  var connections: Int { seen.withLock { $0.connections } }
  var wanted: [String] { seen.withLock { $0.wanted } }

  /// Cuts every tunnel there is, as a proxy that dies.
  func cut() { tunnels.loop.execute { [tunnels] in tunnels.cut() } }

  func stop() async {
    await listener.close()
    await loops.stop()
  }

  private let tunnels: Tunnels

  private final class Tunnels: @unchecked Sendable {  // guarded by `loop`
    let loop: EventLoop
    var all: [Tunnel] = []
    init(_ loop: EventLoop) { self.loop = loop }
    func cut() {
      for tunnel in all { tunnel.cut() }
      all = []
    }
  }

  private final class Tunnel: StreamHandler {
    private var client: StreamConnection?
    private var server: StreamConnection?
    private let target: Endpoint
    private let conduct: Conduct
    private let seen: Locked<Seen>
    private var said: [UInt8] = []
    private var socksStep = 0
    private var isOpen = false

    init(_ client: StreamConnection, _ target: Endpoint, _ conduct: Conduct, _ seen: Locked<Seen>) {
      self.client = client
      self.target = target
      self.conduct = conduct
      self.seen = seen
    }

    func opened(_ stream: StreamConnection) {
      if case .closes = conduct { stream.close() }
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
      if isOpen {
        server?.write(bytes)
        return
      }
      said += bytes
      switch conduct {
      case .silent, .closes: break
      case .says(let text):
        say(Array(text.utf8), false)
        client?.close()
      case .connect(let authorization, let inPieces): connect(authorization, inPieces)
      case .socks5(let password, let inPieces): socks(password, inPieces)
      }
    }

    private func connect(_ authorization: String?, _ inPieces: Bool) {
      let text = String(decoding: said, as: UTF8.self)
      guard text.hasSuffix("\r\n\r\n") else { return }
      let words = text.split(separator: " ")
      seen.withLock { $0.wanted.append(words.count > 1 ? String(words[1]) : text) }
      if let authorization, !text.contains("Proxy-Authorization: \(authorization)\r\n") {
        say(Array("HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n".utf8), inPieces)
        client?.close()
        return
      }
      tunnel(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8), inPieces)
    }

    private func socks(_ password: String?, _ inPieces: Bool) {
      switch socksStep {
      case 0 where said.count >= 2 && said.count >= 2 + Int(said[1]):
        let method: UInt8 = password == nil ? 0 : said[2...].contains(2) ? 2 : 0xFF
        step([5, method], inPieces, method == 0 ? 2 : 1)
      case 1 where said.count >= 3 && said.count == 3 + Int(said[1]) + Int(said[2 + Int(said[1])]):
        let right = [1, 3] + Array("lin".utf8) + [UInt8(password?.utf8.count ?? 0)] + Array((password ?? "").utf8)
        step([1, said == right ? 0 : 1], inPieces, 2)
      case 2 where said.count > 6:
        seen.withLock { $0.wanted.append(String(decoding: said[5...].dropLast(2), as: UTF8.self)) }
        said = []
        tunnel([5, 0, 0, 1, 127, 0, 0, 1, 0, 80], inPieces)
      default: break
      }
    }

    private func step(_ answer: [UInt8], _ inPieces: Bool, _ next: Int) {
      said = []
      socksStep = next
      say(answer, inPieces)
    }

    private func say(_ bytes: [UInt8], _ inPieces: Bool) {
      for piece in inPieces ? bytes.map({ [$0] }) : [bytes] { piece.withUnsafeBytes { _ = client?.write($0) } }
    }

    private func tunnel(_ answer: [UInt8], _ inPieces: Bool) {
      guard let client else { return }
      isOpen = true
      client.pauseReading()
      server = .connect(
        to: target, tls: nil, on: client.loop, limits: StreamLimits(), handler: Far(self, answer, inPieces))
    }

    func cut() {
      client?.reset(StreamConnection.stopped("proxy"))
      server?.reset(StreamConnection.stopped("proxy"))
      (client, server) = (nil, nil)
    }

    func writable() {}
    func receivedEnd() { closed(StreamConnection.stopped("proxy")) }
    func timeCheck(now: Int64) -> Int64 { .max }
    func closed(_ fault: TransportFault) {
      client?.close()
      server?.close()
      (client, server) = (nil, nil)
    }

    private final class Far: StreamHandler {
      private let tunnel: Tunnel
      private let answer: [UInt8]
      private let inPieces: Bool

      init(_ tunnel: Tunnel, _ answer: [UInt8], _ inPieces: Bool) {
        self.tunnel = tunnel
        self.answer = answer
        self.inPieces = inPieces
      }

      func opened(_ stream: StreamConnection) {
        tunnel.say(answer, inPieces)
        tunnel.client?.resumeReading()
      }
      func received(_ bytes: UnsafeRawBufferPointer) { tunnel.client?.write(bytes) }
      func writable() {}
      func receivedEnd() { tunnel.closed(StreamConnection.stopped("proxy")) }
      func timeCheck(now: Int64) -> Int64 { .max }
      func closed(_ fault: TransportFault) { tunnel.closed(fault) }
    }
  }
}
