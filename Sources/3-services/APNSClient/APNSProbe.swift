public import Basics
public import Delivery
import PushPayload
public import Transport

/// One push on a connection of its own, once, with everything that came back: for finding out what is wrong with a
/// credential, a server or the way there. Repeats nothing, holds nothing back, and leaves the key's own provider token
/// alone: it signs one for this connection.
public enum APNSProbe {
  /// What came back. Holds no secret.
  public struct Report: Sendable, Equatable {
    /// TLS is up and the server speaks HTTP/2: chain, name, dates and ALPN are right.
    public var isConnected = false
    /// The answer's status and reason; nil when none came.
    public var refusal: PushOutcome.Refusal?
    /// APNs took the push.
    public var isAccepted = false
    /// Of the answer's `date`, when it had one, against this machine's clock: positive when ours is ahead.
    public var clockAhead: Instant.Span?
    /// Apple's reason in a GOAWAY.
    public var goAway: String?
    /// Why there is no answer.
    public var fault: TransportFault?

    /// Apple's word for what it did not like, by answer or by GOAWAY.
    public var reason: String? { refusal?.reason ?? goAway }

    /// APNs looked past the credential.
    public var provesCredential: Bool { isAccepted || (refusal?.provesCredential ?? false) }
  }

  /// Sends `push` to `server`; answers within `timeout`. A provider token says that it was issued `shift` from now.
  public static func run(
    _ push: OutgoingPush, to server: APNSServer, credential: Credential, trust: TLSClientContext.Trust,
    shift: Instant.Span = .seconds(0), proxy: Proxy? = nil, timeout: Instant.Span = .seconds(15), clock: any WallClock,
    loop: EventLoop
  ) async throws(TLSFault) -> Report {
    let tls = try APNSClient.tls(server: server, credential: credential, trust: trust)
    var authorization: [UInt8]?
    if case .token(let key) = credential { authorization = key.authorization(issuedAt: clock.now + shift) }
    var fields = server.head("POST", authorization: authorization)
    let headers = push.headers
    let known: [(String, String?)] = [
      ("apns-id", headers.id), ("apns-topic", headers.topic), ("apns-push-type", headers.pushType),
      ("apns-priority", headers.priority), ("apns-expiration", headers.expiration),
    ]
    fields += known.compactMap { name, value in
      value.map { HTTP2Field(name: Array(name.utf8), value: Array($0.utf8)) }
    }
    let request = Request(
      common: HTTP2FieldBlock(fields), path: Array("/3/device/\(push.token.hex)".utf8), body: push.payload)
    return await withCheckedContinuation { waiter in
      loop.execute {
        let exchange = Exchange(request, clock) { waiter.resume(returning: $0) }
        exchange.start(to: server, tls, proxy, timeout, on: loop)
      }
    }
  }

  private struct Request: Sendable {
    let common: HTTP2FieldBlock
    let path: [UInt8]
    let body: [UInt8]
  }

  private final class Exchange: HTTP2ClientHandler {  // confined to the loop
    private let request: Request
    private let clock: any WallClock
    private var finish: (@Sendable (Report) -> Void)?
    private var report = Report()
    private var connection: HTTP2ClientConnection?
    private var isSent = false

    init(_ request: Request, _ clock: any WallClock, _ finish: @escaping @Sendable (Report) -> Void) {
      self.request = request
      self.clock = clock
      self.finish = finish
    }

    func start(
      to server: APNSServer, _ tls: TLSClientContext?, _ proxy: Proxy?, _ timeout: Instant.Span, on loop: EventLoop
    ) {
      connection = HTTP2ClientConnection.connect(
        to: server.endpoint, tls: tls, on: loop, through: Dialer(proxy: proxy), handler: self)
      nonisolated(unsafe) let this = self  // the timer fires on the loop
      loop.schedule(after: timeout) {
        this.end(
          TransportFault(
            .timedOut(.request), at: server.endpoint.description,
            what: "no answer within \(timeout.milliseconds / 1000) s",
            remedy: "Check the way there: firewalls, proxies, and whether port 443 or 2197 is open."))
      }
    }

    func connected() { report.isConnected = true }

    func settingsChanged(maxConcurrentStreams: UInt32) {
      guard !isSent, maxConcurrentStreams > 0, let connection else { return }
      isSent = true
      _ = try? connection.submit(common: request.common, path: request.path, own: [], body: request.body)
    }

    func response(stream: Int32, _ response: HTTP2Response) {
      switch Answer(status: response.status, body: response.body) {
      case .accepted: report.isAccepted = true
      case .refused(let refusal): report.refusal = refusal
      }
      let date = response.fields["date"].flatMap { instant(fromHTTPDate: $0) }
      report.clockAhead = date.map { clock.now - $0 }
      end(nil)
    }

    func streamFailed(stream: Int32, code: HTTP2ErrorCode) {}
    func answerTooLarge(stream: Int32, why: String) {
      end(
        TransportFault(
          .limitExceeded, at: connection?.place ?? "connection", what: why,
          remedy: "Check what stands there: it is not APNs."))
    }
    func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
      report.goAway = report.goAway ?? Answer.reason(inGoAway: debugData)
    }
    func pong() {}
    func closed(_ fault: TransportFault) { end(fault) }

    private func end(_ fault: TransportFault?) {
      guard let finish else { return }
      self.finish = nil
      report.fault = fault
      finish(report)
      let open = connection
      connection = nil
      open?.close(graceful: false)
    }
  }
}
