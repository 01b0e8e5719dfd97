public import Transport

/// Where pushes go.
public struct APNSServer: Hashable, Sendable, CustomStringConvertible {
  public let endpoint: Endpoint
  /// False speaks in the clear, which only a server on this machine is ever sent a credential by.
  public let isEncrypted: Bool

  /// For tokens of apps built by Xcode.
  public static let sandbox = APNSServer(Endpoint(host: "api.sandbox.push.apple.com", port: 443))
  /// For tokens of TestFlight and App Store apps.
  public static let production = APNSServer(Endpoint(host: "api.push.apple.com", port: 443))

  public init(_ endpoint: Endpoint) {
    self.endpoint = endpoint
    isEncrypted = true
  }

  /// `sandbox`, `production`, `https://HOST[:PORT]` (port 443 if none), or `http://` for an address of this machine.
  public init(_ text: String) throws(APNSServerFault) {
    switch text {
    case "sandbox", "development":
      self = .sandbox
      return
    case "production":
      self = .production
      return
    default: break
    }
    let encrypted: Bool
    var rest: Substring
    if text.hasPrefix("https://") {
      encrypted = true
      rest = text.dropFirst("https://".count)
    } else if text.hasPrefix("http://") {
      encrypted = false
      rest = text.dropFirst("http://".count)
    } else {
      throw APNSServerFault(found: "'\(text.prefix(80))' is no place to push to")
    }
    while rest.last == "/" { rest = rest.dropLast() }
    guard let endpoint = Endpoint(String(rest), defaultPort: encrypted ? 443 : 80), !endpoint.host.contains("@") else {
      throw APNSServerFault(found: "'\(text.prefix(80))' has no host or more than host and port")
    }
    guard encrypted || ["127.0.0.1", "::1", "localhost"].contains(endpoint.host) else {
      throw APNSServerFault(found: "'\(text.prefix(80))' would send the credential in the clear")
    }
    self.endpoint = endpoint
    isEncrypted = encrypted
  }

  /// The value of `:authority`: the port only when it is not the scheme's own.
  var authority: String {
    let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
    return endpoint.port == (isEncrypted ? 443 : 80) ? host : "\(host):\(endpoint.port)"
  }

  /// The fields that begin a request to it.
  func head(_ method: String, authorization: [UInt8]?) -> [HTTP2Field] {
    let fields = [
      HTTP2Field(":method", method), HTTP2Field(":scheme", isEncrypted ? "https" : "http"),
      HTTP2Field(":authority", authority),
    ]
    guard let authorization else { return fields }
    return fields + [HTTP2Field(name: Array("authorization".utf8), value: authorization)]
  }

  public var description: String {
    switch self {
    case .sandbox: "sandbox"
    case .production: "production"
    default: "\(isEncrypted ? "https" : "http")://\(authority)"
    }
  }
}

public struct APNSServerFault: Error, Hashable, Sendable, CustomStringConvertible {
  public let found: String
  public let remedy = "Give sandbox, production or https://HOST:PORT."
  public var description: String { "\(found). \(remedy)" }
}
