/// A request over HTTP/1.x, read whole.
public struct HTTPRequest: Sendable {
  /// As sent; methods are case-sensitive (RFC 9110 §9.1).
  public var method: String
  /// The path as sent: neither percent-decoded nor normalised, without the query. `HTTPTarget` takes it apart.
  public var path: String
  /// What follows the first `?`, as sent; nil without a `?`.
  public var query: String?
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// The address of the socket's other end; nil where a request did not come over a socket.
  public var peer: Endpoint?

  public init(
    method: String, path: String, query: String? = nil, headers: HTTPHeaders = [:], body: [UInt8] = [],
    peer: Endpoint? = nil
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.peer = peer
  }
}

/// What is answered. `Date`, `Content-Length` and `Connection` are the server's own; a HEAD request gets the headers
/// of the answer without its body.
public struct HTTPResponse: Sendable {
  public var status: Int
  public var headers: HTTPHeaders
  public var body: [UInt8]
  /// Called once with the socket after the head of the answer left; see `switchingProtocols`.
  var takeOver: (@Sendable (HTTPUpgradedSocket) -> Void)?

  public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// 101 with the given headers (`Upgrade` and what its protocol asks for; `Connection: Upgrade` comes by itself).
  /// `takeOver` gets the socket once the answer has left, on the server's thread: it must not block, and it closes the
  /// socket when it is done. It is never called if the peer leaves before.
  public static func switchingProtocols(
    headers: HTTPHeaders, takeOver: @escaping @Sendable (HTTPUpgradedSocket) -> Void
  ) -> HTTPResponse {
    var response = HTTPResponse(status: 101, headers: headers)
    response.takeOver = takeOver
    return response
  }
}

/// A socket that no longer speaks HTTP. Whoever gets it owns it and must close it.
public struct HTTPUpgradedSocket: Sendable {
  /// Connected, non-blocking.
  public let descriptor: Int32
  /// What the peer sent behind its request's head and the server has read already: comes before anything read later.
  public let alreadyRead: [UInt8]
}

/// Header fields in the order sent. Names match without regard to case (RFC 9110 §5.1).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String
  }

  public private(set) var fields: [Field]

  public init() { fields = [] }

  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The first value of that name. Setting replaces every field of that name; nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { Self.same($0.name, name) }?.value }
    set {
      fields.removeAll { Self.same($0.name, name) }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Keeps what is there of that name.
  public mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

  mutating func reserve(_ count: Int) { fields.reserveCapacity(count) }

  private static func same(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowered($0) == lowered($1) }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
