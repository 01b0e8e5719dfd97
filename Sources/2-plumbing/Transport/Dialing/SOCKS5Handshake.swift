import Basics

/// SOCKS 5 (RFC 1928) with user and password (RFC 1929):
///
///     greeting ──method 0──▶ requesting ──reply──▶ over        every phase goes to over on a refusal
///         └────method 2──▶ authenticating ──▶ requesting
struct SOCKS5Handshake: Sendable {
  private enum Phase {
    /// Our methods are said; the proxy chooses one.
    case greeting
    /// User and password are said.
    case authenticating
    /// The place is said.
    case requesting
    case over
  }

  private let target: Endpoint
  private let credentials: Proxy.Credentials?
  private var phase = Phase.greeting
  private var said: [UInt8] = []

  init(to target: Endpoint, _ credentials: Proxy.Credentials?) {
    self.target = target
    self.credentials = credentials
  }

  var greeting: [UInt8] { credentials == nil ? [5, 1, 0] : [5, 2, 0, 2] }

  mutating func handle(_ bytes: some Collection<UInt8>) -> [ProxyHandshake.Effect] {
    said += bytes
    var effects: [ProxyHandshake.Effect] = []
    while let step = step() {
      effects += step
      if case .over = phase { said = [] }
    }
    return effects
  }

  /// nil when more bytes must come first.
  private mutating func step() -> [ProxyHandshake.Effect]? {
    switch phase {
    case .greeting:
      if let first = said.first, first != 5 { return garbage() }
      guard said.count >= 2 else { return nil }
      let method = said[1]
      defer { said.removeFirst(min(2, said.count)) }
      switch (method, credentials) {
      case (0, _): return request()
      case (2, let credentials?):
        phase = .authenticating
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        guard (1...255).contains(user.count), (1...255).contains(password.count) else {
          return refuse(.authentication, "user and password of a SOCKS proxy have 1 to 255 bytes each", "Shorten them.")
        }
        return [.send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)]
      case (0xFF, nil):
        return refuse(
          .authentication, "the proxy asks for more than no authentication",
          "Give socks5://USER:PASSWORD@HOST:PORT.")
      case (0xFF, _?):
        return refuse(
          .authentication, "the proxy takes neither user and password nor none",
          "Allow one of both for this machine.")
      default: return garbage()
      }
    case .authenticating:
      if let first = said.first, first != 1 { return garbage() }
      guard said.count >= 2 else { return nil }
      let status = said[1]
      said.removeFirst(2)
      guard status == 0 else {
        return refuse(
          .authentication, "the proxy does not take this user and password (status \(status))",
          "Check both; percent-encode what is no letter or digit.")
      }
      return request()
    case .requesting: return reply()
    case .over: return nil
    }
  }

  private mutating func request() -> [ProxyHandshake.Effect] {
    phase = .requesting
    guard let place = target.socksAddress else {
      return refuse(.refused, "the host's name has more than 255 bytes", "Check the name.")
    }
    return [.send([5, 1, 0] + place + [UInt8(target.port >> 8), UInt8(target.port & 255)])]
  }

  /// VER REP RSV ATYP BND.ADDR BND.PORT (RFC 1928 §6).
  private mutating func reply() -> [ProxyHandshake.Effect]? {
    if let first = said.first, first != 5 { return garbage() }
    guard said.count >= 2 else { return nil }
    // a refusal counts at once: some proxies close without the rest
    guard said[1] == 0 else {
      let (what, remedy) = Self.words(said[1])
      return refuse(.refused, "the proxy did not reach \(target): \(what)", remedy)
    }
    guard said.count >= 4 else { return nil }
    let length: Int
    switch said[3] {
    case 1: length = 4
    case 4: length = 16
    case 3:
      guard said.count >= 5 else { return nil }
      length = 1 + Int(said[4])
    default: return garbage()
    }
    guard said.count >= 4 + length + 2 else { return nil }
    let rest = Array(said[(4 + length + 2)...])
    phase = .over
    return [.through(rest: rest)]
  }

  private mutating func refuse(
    _ kind: ProxyRefusal.Kind, _ what: String, _ remedy: String
  ) -> [ProxyHandshake.Effect] {
    phase = .over
    return [.failed(ProxyRefusal(kind: kind, what: what, remedy: remedy))]
  }

  private mutating func garbage() -> [ProxyHandshake.Effect] {
    let found = said.starts(with: Array("HTTP".utf8)) ? "it is an HTTP server" : "the bytes \(said.prefix(8).hex)"
    return refuse(
      .garbage, "what listens there does not answer as a SOCKS 5 proxy: \(found)",
      "Check kind, host and port of the proxy.")
  }

  private static func words(_ code: UInt8) -> (String, String) {
    switch code {
    case 1: ("general failure", "See the proxy's log.")
    case 2: ("not allowed by its rules", "Let the proxy pass connections to this host and port.")
    case 3: ("network unreachable", "Check the network behind the proxy.")
    case 4: ("host unreachable", "Check the name, and the network behind the proxy.")
    case 5: ("connection refused", "Check host and port.")
    case 6: ("it took too long", "Check the network behind the proxy.")
    case 7: ("it does not know CONNECT", "Use another proxy.")
    case 8: ("it does not know this kind of address", "Give the host by name.")
    default: ("reply \(code)", "See the proxy's log.")
    }
  }
}
