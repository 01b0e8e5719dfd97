import Basics
import Testing

@testable import Transport

@Suite("A proxy's address")
struct ProxyTextTests {
  @Test(
    "is read from a URL",
    arguments: [
      ("http://proxy.example:3128", Proxy.httpConnect(Endpoint(host: "proxy.example", port: 3128))),
      ("HTTP://proxy.example/", .httpConnect(Endpoint(host: "proxy.example", port: 80))),
      ("proxy.example:3128", .httpConnect(Endpoint(host: "proxy.example", port: 3128))),
      ("socks5://[::1]:1081", .socks5(Endpoint(host: "::1", port: 1081))),
      ("socks5h://10.0.0.1", .socks5(Endpoint(host: "10.0.0.1", port: 1080))),
      (
        "http://lin:p%40ss%3A%2F@proxy.example:3128",
        .httpConnect(Endpoint(host: "proxy.example", port: 3128), .init(user: "lin", password: "p@ss:/"))
      ),
      ("socks5://a:b:c@h:1", .socks5(Endpoint(host: "h", port: 1), .init(user: "a", password: "b:c"))),
      ("http://lin@h:1", .httpConnect(Endpoint(host: "h", port: 1), .init(user: "lin", password: ""))),
    ])
  func reads(text: String, proxy: Proxy) throws { #expect(try Proxy(text) == proxy) }

  @Test(
    "is refused with what is wrong, and without the password",
    arguments: [
      ("https://lin:secret@h:1", "TLS"), ("socks4://lin:secret@h:1", "version 5"), ("ftp://h:1", "ftp"),
      ("http://lin:secret@", "host"), ("http://lin:secret%4@h:1", "hex"), ("http://lin:secret@h:0", "port"),
      ("http://lin:secret@h:99999", "port"), ("http://lin:secret@h:1/path", "more than both"),
      ("socks5://lin@h:1", "1 to 255"), ("http://li%3An:secret@h:1", "':'"), ("", "host"), ("http://a b:1", "host"),
    ])
  func refuses(text: String, words: String) {
    let fault = #expect(throws: ProxyFault.self) { try Proxy(text) }
    #expect(fault?.description.contains(words) == true && fault?.description.contains("secret") == false, "\(text)")
  }

  @Test("is shown without the password")
  func shown() throws {
    let proxy = try Proxy("http://l%40n:secret@[::1]:3128")
    #expect("\(proxy)" == "http://l%40n:…@[::1]:3128")
    #expect(!String(reflecting: proxy).contains("secret") && !"\(proxy.credentials!)".contains("secret"))
  }
}

@Suite("What is said to a proxy")
struct ProxyHandshakeTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var proxy: String
    var target = "api.push.apple.com:443"
    /// What the proxy says, piece by piece.
    var says: [[UInt8]]
    /// What follows, without our greeting.
    var gives: [ProxyHandshake.Effect]
  }

  static let far = Array("rest".utf8)
  static let byName: [UInt8] =
    [5, 1, 0, 3, 18] + Array("api.push.apple.com".utf8) + [1, 0xBB]

  static let rows = [
    Row(
      testDescription: "CONNECT: 200 opens the tunnel; what the far end said is passed on", proxy: "http://p:1",
      says: [Array("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nrest".utf8)], gives: [.through(rest: far)]),
    Row(
      testDescription: "CONNECT: HTTP/1.0 and another 2xx do as well, a length is ignored (RFC 9110 §9.3.6)",
      proxy: "http://p:1", says: [Array("HTTP/1.0 299 \r\nContent-Length: 9\r\n\r\nrest".utf8)],
      gives: [.through(rest: far)]),
    Row(
      testDescription: "CONNECT: an interim answer comes before the answer (RFC 9110 §15.2)", proxy: "http://p:1",
      says: [Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8)], gives: [.through(rest: [])]),
    Row(
      testDescription: "SOCKS 5: no authentication, the name is the proxy's to look up", proxy: "socks5://p:1",
      says: [[5, 0], [5, 0, 0, 1, 10, 0, 0, 1, 4, 56] + far], gives: [.send(byName), .through(rest: far)]),
    Row(
      testDescription: "SOCKS 5: user and password (RFC 1929)", proxy: "socks5://lin:pw@p:1",
      says: [[5, 2], [1, 0], [5, 0, 0, 3, 1, 120, 0, 0]],
      gives: [.send([1, 3] + Array("lin".utf8) + [2] + Array("pw".utf8)), .send(byName), .through(rest: [])]),
    Row(
      testDescription: "SOCKS 5: credentials that the proxy does not want", proxy: "socks5://lin:pw@p:1",
      says: [[5, 0], [5, 0, 0, 4] + [UInt8](repeating: 0, count: 18)], gives: [.send(byName), .through(rest: [])]),
    Row(
      testDescription: "SOCKS 5: IPv4", proxy: "socks5://p:1", target: "17.188.1.2:2197", says: [[5, 0]],
      gives: [.send([5, 1, 0, 1, 17, 188, 1, 2, 8, 0x95])]),
    Row(
      testDescription: "SOCKS 5: IPv6", proxy: "socks5://p:1", target: "[2620:149:208:4304::a]:443", says: [[5, 0]],
      gives: [
        .send([5, 1, 0, 4, 0x26, 0x20, 1, 0x49, 2, 8, 0x43, 4, 0, 0, 0, 0, 0, 0, 0, 10, 1, 0xBB])
      ]),
  ]

  @Test("leads through", arguments: rows)
  func leadsThrough(row: Row) throws {
    let target = try #require(Endpoint(row.target))
    var whole = ProxyHandshake(try Proxy(row.proxy), to: target)
    _ = whole.begin()
    #expect(row.says.flatMap { whole.handle($0) } == row.gives)
    // The same byte by byte; what is behind the end of the handshake is the far end's already.
    var pieces = ProxyHandshake(try Proxy(row.proxy), to: target)
    _ = pieces.begin()
    let effects = row.says.joined().prefix(row.says.joined().count - row.restCount).flatMap { pieces.handle([$0]) }
    #expect(effects == row.gives.map { if case .through = $0 { .through(rest: []) } else { $0 } })
    #expect(pieces.handle(Self.far) == [] || row.isUnfinished, "nothing comes after the end")
  }

  @Test("begins with what the kind of proxy asks for")
  func begins() throws {
    let target = Endpoint(host: "::1", port: 2197)
    func first(_ proxy: String) throws -> String {
      var handshake = ProxyHandshake(try Proxy(proxy), to: target)
      guard case .send(let bytes)? = handshake.begin().first else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(
      try first("http://p:1") == "CONNECT [::1]:2197 HTTP/1.1\r\nHost: [::1]:2197\r\nUser-Agent: belfry\r\n\r\n")
    #expect(
      try first("http://Aladdin:open%20sesame@p:1").contains(
        "\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
    #expect(try first("socks5://p:1") == "\u{5}\u{1}\0")
    #expect(try first("socks5://a:b@p:1") == "\u{5}\u{2}\0\u{2}")
  }

  @Test(
    "ends with what is wrong",
    arguments: [
      (
        "http://p:1", "HTTP/1.1 407 Authenticate\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
        ProxyRefusal.Kind.authentication, "asks for user and password"
      ),
      (
        "http://a:secret@p:1", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n\r\n", .authentication,
        "does not take this user"
      ),
      (
        "http://a:secret@p:1", "HTTP/1.1 407 No\r\nproxy-authenticate: NTLM\r\nProxy-Authenticate: Negotiate\r\n\r\n",
        .authentication, "NTLM, Negotiate"
      ),
      ("http://p:1", "HTTP/1.1 403 Forbidden\r\n\r\n", .refused, "forbids"),
      ("http://p:1", "HTTP/1.1 503 Service Unavailable\r\n\r\n", .refused, "503 Service Unavailable"),
      ("http://p:1", "HTTP/1.1 503\r\n\r\n", .refused, "(503)"),
      ("http://p:1", "HTTP/1.1 2000 OK\r\n\r\n", .garbage, "HTTP/1.1 2000"),
      ("http://p:1", "SSH-2.0-OpenSSH_9.2\r\n", .garbage, "SSH-2.0"),
      ("http://p:1", "\u{15}\u{3}\u{3}", .garbage, "TLS"),
      ("http://p:1", "\u{5}\0", .garbage, "SOCKS"),
      ("socks5://p:1", "HTTP/1.1 400 Bad Request\r\n\r\n", .garbage, "HTTP server"),
      ("socks5://p:1", "\u{4}\u{5a}", .garbage, "045a"),
      ("socks5://p:1", "\u{5}\u{7}", .garbage, "07"),
      ("socks5://p:1", "\u{5}\0\u{5}\u{2}", .refused, "not allowed by its rules"),
      ("socks5://p:1", "\u{5}\0\u{5}\u{5}\0\u{1}", .refused, "connection refused"),
      ("socks5://p:1", "\u{5}\0\u{5}\u{63}", .refused, "reply 99"),
      ("socks5://p:1", "\u{5}\0\u{5}\0\0\u{9}", .garbage, "05"),
      ("socks5://a:secret@p:1", "\u{5}\u{2}\u{1}\u{1}", .authentication, "does not take this user"),
      ("socks5://a:secret@p:1", "\u{5}\u{2}\u{7}", .garbage, "07"),
    ])
  func ends(proxy: String, says: String, kind: ProxyRefusal.Kind, words: String) throws {
    for inPieces in [false, true] {
      var handshake = ProxyHandshake(try Proxy(proxy), to: Endpoint(host: "api.push.apple.com", port: 443))
      _ = handshake.begin()
      let effects =
        inPieces ? says.utf8.flatMap { handshake.handle([$0]) } : handshake.handle(Array(says.utf8))
      guard case .failed(let refusal)? = effects.last else {
        Issue.record("\(effects)")
        return
      }
      #expect(refusal.kind == kind)
      #expect(inPieces || refusal.what.contains(words), "\(refusal.what)")
      #expect(!"\(refusal)".contains("secret"))
      #expect(handshake.handle([5, 0, 0]) == [])
    }
  }

  @Test("405 and SOCKS with no acceptable method say what to do")
  func methods() throws {
    var without = ProxyHandshake(try Proxy("socks5://p:1"), to: Endpoint(host: "h", port: 1))
    _ = without.begin()
    guard case .failed(let refusal)? = without.handle([5, 0xFF]).last else { throw Unexpected() }
    #expect(refusal.remedy.contains("USER:PASSWORD"))
    var with = ProxyHandshake(try Proxy("socks5://a:b@p:1"), to: Endpoint(host: "h", port: 1))
    _ = with.begin()
    guard case .failed(let second)? = with.handle([5, 0xFF]).last else { throw Unexpected() }
    #expect(second.kind == .authentication)
  }

  @Test("a head without end is not kept for ever; a name too long is not sent")
  func bounds() throws {
    var endless = ProxyHandshake(try Proxy("http://p:1"), to: Endpoint(host: "h", port: 1))
    _ = endless.begin()
    var effects = endless.handle(Array("HTTP/1.1 200 OK\r\n".utf8))
    for _ in 0..<2000 where effects.isEmpty { effects = endless.handle(Array("X: 234567\r\n".utf8)) }
    guard case .failed? = effects.last else { throw Unexpected() }
    var long = ProxyHandshake(
      try Proxy("socks5://p:1"), to: Endpoint(host: String(repeating: "a", count: 256), port: 1))
    _ = long.begin()
    guard case .failed? = long.handle([5, 0]).last else { throw Unexpected() }
  }

  @Test("whatever a proxy says, it ends at most once and never traps", arguments: 0..<300 as Range<UInt64>)
  func anything(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    let proxy = try Proxy(["http://p:1", "socks5://p:1", "socks5://a:b@p:1"].randomElement(using: &dice)!)
    var handshake = ProxyHandshake(proxy, to: Endpoint(host: "api.push.apple.com", port: 443))
    _ = handshake.begin()
    let likely: [UInt8] = Array("HTTP/1.1 2047\r\n\r\n".utf8) + [0, 1, 2, 3, 4, 5, 5, 5, 255]
    var ends = 0
    for _ in 0..<200 {
      let piece = (0..<Int.random(in: 0...9, using: &dice)).map { _ in likely.randomElement(using: &dice)! }
      for effect in handshake.handle(piece) {
        switch effect {
        case .send: #expect(ends == 0)
        case .through, .failed: ends += 1
        }
      }
    }
    #expect(ends <= 1)
  }

  struct Unexpected: Error {}
}

extension ProxyHandshakeTests.Row {
  fileprivate var restCount: Int {
    if case .through(let rest)? = gives.last { rest.count } else { 0 }
  }
  fileprivate var isUnfinished: Bool { if case .send? = gives.last { true } else { false } }
}
