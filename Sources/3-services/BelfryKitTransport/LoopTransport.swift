public import BelfryKit
public import Foundation
internal import HTTPClient
public import Transport

/// BelfryKit's way to the network where there is no `URLSession` that speaks WebSocket: our own sockets, by which the library
/// runs on Linux.
public struct LoopTransport: BelfryTransport {
  private let loop: EventLoop
  private let trust: TLSClientContext.Trust
  private let client = HTTPClient()

  /// - Parameter trust: whose certificates of the gateway count; the service's are judged by the machine's own store.
  public init(on loop: EventLoop, trust: TLSClientContext.Trust = .system) {
    self.loop = loop
    self.trust = trust
  }

  public func call(_ request: ServiceRequest) async throws -> ServiceAnswer {
    let answer = try await client.call(
      request.method, request.url.absoluteString, headers: ["Content-Type": "application/json"],
      basic: request.user.map { ($0, request.password ?? "") }, body: request.body.map { [UInt8]($0) })
    return ServiceAnswer(status: answer.status, body: Data(answer.body))
  }

  public func open(_ url: URL) async throws -> any MessageSocket {
    var limits = WebSocket.Limits()
    limits.message = 4 << 20
    limits.pingInterval = nil  // the library asks by itself
    let tls = url.scheme == "wss" ? try TLSClientContext(trust: trust, offersH2: false) : nil
    return LoopSocket(try await WebSocket.connect(url.absoluteString, tls: tls, on: loop, limits: limits))
  }

  public func download(_ url: URL, to destination: URL, limit: Int) async throws {
    let answer = try await HTTPClient(bodyLimit: limit).call("GET", url.absoluteString)
    guard answer.status == 200 else { throw DownloadFault(what: "\(url) was answered \(answer.status)") }
    guard !answer.isCut else { throw DownloadFault(what: "\(url) has more than \(limit) bytes") }
    try Data(answer.body).write(to: destination, options: .withoutOverwriting)
  }

  struct DownloadFault: Error, CustomStringConvertible {
    var what: String
    var description: String { what }
  }
}

/// `receive` is called by one task at a time, as the contract says.
private final class LoopSocket: MessageSocket, @unchecked Sendable {  // `iterator` is guarded by that rule
  private let socket: WebSocket
  private var iterator: AsyncStream<WebSocket.Message>.Iterator

  init(_ socket: WebSocket) {
    self.socket = socket
    iterator = socket.messages.makeAsyncIterator()
  }

  func send(_ text: String) async throws { try await socket.send(text) }

  func receive() async -> SocketNews {
    while let message = await iterator.next() {
      if case .text(let text) = message { return .text(text) }
    }
    let code = await socket.closing?.code
    // RFC 6455 §7.4.1: these two are never sent, they say that no code came
    return .closed(code: code == 1005 || code == 1006 ? nil : code)
  }

  func close() async { await socket.close() }

  func abandon() { Task { await socket.abort() } }
}
