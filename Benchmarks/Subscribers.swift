import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Very many connections that wait for messages, in one process with a few hundred bytes for each, so that what a server
/// takes for them is the server's: `belfry-bench subscribe …`. It says as lines of JSON when all are in, and after each
/// burst of messages how late they came. A connection that ends is opened again, at once and then every 50 ms.
func subscribeProcess(_ words: Words) throws {
  #if os(Linux)
    let speech: Subscribers.Speech
    switch try words.text("speech") {
    case "gateway":
      let lines = try contents(of: try words.text("hellos")).split(separator: UInt8(ascii: "\n"))
      speech = .gateway(hellos: lines.map { Array($0) })
    case "mqtt": speech = .mqtt
    case let other: throw UsageFault("--speech \(other) is neither gateway nor mqtt")
    }
    var subscribers = try Subscribers(
      count: try words.number("count"), port: UInt16(clamping: try words.number("port")),
      source: UInt32(clamping: try words.number("source")), speech)
    try subscribers.run()
  #else
    throw BenchFault("the gateway is measured on Linux only")
  #endif
}

#if os(Linux)
  struct Subscribers {
    enum Speech {
      /// A hello a connection.
      case gateway(hellos: [[UInt8]])
      case mqtt
    }

    /// IP_BIND_ADDRESS_NO_PORT of Linux, which Glibc's module lacks.
    private static let bindAddressNoPort: Int32 = 24

    private struct Connection {
      var descriptor: Int32 = -1
      var isIn = false
    }

    private let port: UInt16
    /// The last byte of the address that is connected from: each has ports of its own.
    private let source: UInt32
    private let speech: Speech
    private var polled: [pollfd]
    private var connections: [Connection]
    private var closed: [Int] = []
    private var inCount = 0
    private var hasSaidIn = false
    private var latencies: [Double] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(count: Int, port: UInt16, source: UInt32, _ speech: Speech) throws {
      self.port = port
      self.source = source
      self.speech = speech
      connections = Array(repeating: Connection(), count: count)
      closed = Array(connections.indices.reversed())
      polled = Array(repeating: pollfd(fd: -1, events: Int16(POLLIN), revents: 0), count: count)
    }

    mutating func run() throws {
      var lastMessage = 0.0
      while true {
        // few at a time, so that the server's queue of newcomers is never what is measured
        for _ in 0..<256 {
          guard let index = closed.popLast() else { break }
          guard try open(index) else {
            closed.append(index)
            break
          }
        }
        let wait: Int32 = closed.isEmpty ? (latencies.isEmpty ? 1000 : 100) : (inCount == 0 ? 50 : 1)
        let count = poll(&polled, nfds_t(polled.count), wait)
        if count > 0 { for index in polled.indices where polled[index].revents != 0 { read(index) } }
        if count > 0, !latencies.isEmpty { lastMessage = monotonicSeconds() }
        if !latencies.isEmpty, monotonicSeconds() - lastMessage > 0.5 { tellBurst() }
        if inCount == connections.count, !hasSaidIn {
          hasSaidIn = true
          tell("{\"in\":\(inCount)}")
        }
      }
    }

    private func tell(_ line: String) {
      var text = line + "\n"
      text.withUTF8 { bytes in _ = write(1, bytes.baseAddress, bytes.count) }
    }

    private mutating func tellBurst() {
      latencies.sort()
      func at(_ share: Double) -> Double { latencies[Int(Double(latencies.count - 1) * share)] * 1000 }
      tell(
        "{\"messages\":\(latencies.count),\"p50\":\(at(0.5)),\"p99\":\(at(0.99)),\"most\":\(at(1))}")
      latencies = []
    }

    // MARK: Connections

    /// false: the server takes none now.
    private mutating func open(_ index: Int) throws -> Bool {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard descriptor >= 0 else { throw BenchFault("no socket: \(String(cString: strerror(errno)))") }
      var one: Int32 = 1
      setsockopt(
        descriptor, Int32(IPPROTO_IP), Self.bindAddressNoPort, &one, socklen_t(MemoryLayout<Int32>.size))
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
      guard address(0x7F00_0000 | source, 0, { bind(descriptor, $0, $1) }) == 0,
        address(0x7F00_0001, port, { connect(descriptor, $0, $1) }) == 0
      else {
        close(descriptor)
        return false
      }
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      polled[index].fd = descriptor
      connections[index].descriptor = descriptor
      send(descriptor, greeting(index))
      return true
    }

    private func address(
      _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = host.bigEndian
      address.sin_port = port.bigEndian
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }

    private mutating func lose(_ index: Int) {
      close(connections[index].descriptor)
      if connections[index].isIn { inCount -= 1 }
      connections[index] = Connection()
      polled[index].fd = -1
      closed.append(index)
      hasSaidIn = false
    }

    private mutating func read(_ index: Int) {
      let descriptor = connections[index].descriptor
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else {
        if count == 0 || errno != EAGAIN { lose(index) }
        return
      }
      let now = monotonicSeconds()
      let bytes = buffer[..<count]
      if !connections[index].isIn, isWelcome(bytes) {
        connections[index].isIn = true
        inCount += 1
      }
      var last: Int64?
      for mark in marks(in: bytes) {
        latencies.append(now - mark.sent)
        if let position = mark.position { last = position }
      }
      switch speech {
      case .gateway:
        if let last { send(descriptor, frame(1, Array("{\"type\":\"ack\",\"seq\":\(last)}".utf8))) }
        if bytes.first == 0x89 { send(descriptor, frame(10, [])) }
      case .mqtt: break
      }
    }

    private func send(_ descriptor: Int32, _ bytes: [UInt8]) { _ = write(descriptor, bytes, bytes.count) }

    // MARK: What is said

    private func greeting(_ index: Int) -> [UInt8] {
      switch speech {
      case .gateway(let hellos):
        let head =
          "GET /gateway/v1 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        return Array(head.utf8) + frame(1, hellos[index])
      case .mqtt:
        // MQTT 3.1.1: CONNECT with a clean session and no keep-alive, SUBSCRIBE to "b" by QoS 0
        let id = Array("\(source)-\(index)".utf8)
        let rest: [UInt8] = [0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 0, 0, UInt8(id.count)] + id
        return [0x10, UInt8(rest.count)] + rest + [0x82, 6, 0, 1, 0, 1, 0x62, 0]
      }
    }

    /// A client's frame, masked with zeros.
    private func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
      let size: [UInt8] =
        payload.count < 126
        ? [0x80 | UInt8(payload.count)] : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
      return [0x80 | opcode] + size + [0, 0, 0, 0] + payload
    }

    private func isWelcome(_ bytes: ArraySlice<UInt8>) -> Bool {
      switch speech {
      case .gateway: index(of: Array("\"welcome\"".utf8), in: bytes, from: bytes.startIndex) != nil
      case .mqtt: index(of: [0x90, 3], in: bytes, from: bytes.startIndex) != nil
      }
    }

    /// Each message has `@NANOSECONDS@` of its sending by the monotonic clock; the gateway's its position before that.
    private func marks(in bytes: ArraySlice<UInt8>) -> [(sent: Double, position: Int64?)] {
      var found: [(Double, Int64?)] = []
      var at = bytes.startIndex
      while let start = bytes[at...].firstIndex(of: UInt8(ascii: "@")) {
        guard let sent = number(in: bytes, at: start + 1), sent.end < bytes.endIndex,
          bytes[sent.end] == UInt8(ascii: "@")
        else { break }
        let sequence = index(of: Array("\"seq\":".utf8), in: bytes[..<start], from: at)
        found.append((Double(sent.value) / 1e9, sequence.flatMap { number(in: bytes, at: $0 + 6)?.value }))
        at = sent.end + 1
      }
      return found
    }

    private func number(in bytes: ArraySlice<UInt8>, at start: Int) -> (value: Int64, end: Int)? {
      var value: Int64 = 0
      var at = start
      while at < bytes.endIndex, case let digit = bytes[at] &- UInt8(ascii: "0"), digit < 10, at - start < 18 {
        value = value * 10 + Int64(digit)
        at += 1
      }
      return at > start ? (value, at) : nil
    }

    private func index(of word: [UInt8], in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
      guard bytes.endIndex - start >= word.count else { return nil }
      return (start...(bytes.endIndex - word.count)).first { at in
        bytes[at] == word[0] && bytes[at...].starts(with: word)
      }
    }
  }
#endif
