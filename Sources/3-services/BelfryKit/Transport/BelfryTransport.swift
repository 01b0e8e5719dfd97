public import Foundation

/// The way to the network. On Apple platforms `URLSessionTransport`.
public protocol BelfryTransport: Sendable {
  /// Sends one request and returns the answer, whatever its status; throws when none came. Follows no redirects.
  func call(_ request: ServiceRequest) async throws -> ServiceAnswer

  /// Opens a WebSocket. Returns once it is open. Does not wait longer than some tens of seconds.
  func open(_ url: URL) async throws -> any MessageSocket

  /// Downloads a file of at most `limit` bytes to `destination`, which does not exist yet; throws when it is larger, and for
  /// every status but 200.
  func download(_ url: URL, to destination: URL, limit: Int) async throws
}

public struct ServiceRequest: Hashable, Sendable {
  public var method: String
  public var url: URL
  /// Of HTTP's basic authentication; in no log.
  public var user: String?
  public var password: String?
  /// JSON.
  public var body: Data?

  /// `Authorization`, where there is a user.
  public var authorization: String? {
    user.map { "Basic " + Data("\($0):\(password ?? "")".utf8).base64EncodedString() }
  }
}

public struct ServiceAnswer: Hashable, Sendable {
  public var status: Int
  public var body: Data

  public init(status: Int, body: Data) {
    self.status = status
    self.body = body
  }
}

/// One WebSocket. `send` is called by one task at a time, `receive` by another one.
public protocol MessageSocket: Sendable {
  /// Throws when it is over.
  func send(_ text: String) async throws
  /// What comes next. After `closed` it is not called again.
  func receive() async -> SocketNews
  /// Says goodbye, behind everything that was sent; returns when that has left, or can not.
  func close() async
  /// Ends it without goodbye; `receive` returns then.
  func abandon()
}

public enum SocketNews: Hashable, Sendable {
  case text(String)
  /// The code of the other side's close; nil: it broke.
  case closed(code: UInt16?)
}
