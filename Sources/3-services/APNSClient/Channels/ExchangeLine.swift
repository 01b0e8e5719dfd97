import Basics
import Delivery
import PushPayload
import Transport

/// Single requests that are not pushes, over one HTTP/2 connection: opened when there is something to ask, closed when
/// nothing was for a while, replaced when it goes. Never sends a request twice: who asked decides.
final class ExchangeLine {  // confined to `loop`
  enum Outcome: Sendable {
    case answered(HTTP2Response)
    /// The peer certainly did not look at it.
    case unprocessed(String, isCertificateRefused: Bool = false)
    /// The peer may have acted on it.
    case unanswered(String)
  }

  struct Request {
    var common: HTTP2FieldBlock
    var path: [UInt8]
    var own: [HTTP2Field]
    var body: [UInt8]
  }

  struct Waiter {
    var number: UInt64
    var request: Request
    var done: CheckedContinuation<Outcome, Never>
  }

  private let server: APNSServer
  private let tls: TLSClientContext?
  private let loop: EventLoop
  private let dialer: Dialer
  private let limits: HTTP2Limits
  private var waiting: [Waiter] = []
  /// Where new requests go.
  private var current: ExchangeLink?
  /// Let go, but still owed answers.
  private var draining: [ExchangeLink] = []
  private var nextNumber: UInt64 = 0

  init(
    server: APNSServer, tls: TLSClientContext?, loop: EventLoop, dialer: Dialer, idle: Instant.Span,
    pingTimeout: Instant.Span
  ) {
    self.server = server
    self.dialer = dialer
    self.tls = tls
    self.loop = loop
    var limits = HTTP2Limits()
    limits.idleTimeout = idle
    limits.pingTimeout = pingTimeout
    self.limits = limits
  }

  /// Queues a request; `done` is resumed once. Answers the number to give it up by.
  func ask(_ request: Request, _ done: CheckedContinuation<Outcome, Never>) -> UInt64 {
    nextNumber += 1
    waiting.append(Waiter(number: nextNumber, request: request, done: done))
    flush()
    return nextNumber
  }

  /// The time of a request is over.
  func giveUp(_ number: UInt64, _ why: String) {
    if let index = waiting.firstIndex(where: { $0.number == number }) {
      waiting.remove(at: index).done.resume(returning: .unprocessed(why))
      guard let link = current, !link.isUp else { return }
      // whoever accepts there says nothing: its address is tried last from now on
      current = nil
      link.connection?.abandon(why: why)
    }
    link(owing: number)?.giveUp(number, why)
  }

  /// A request has waited for a while: asks the connection for a sign of life, without which it ends.
  func doubt(_ number: UInt64) { link(owing: number)?.connection?.ping() }

  private func link(owing number: UInt64) -> ExchangeLink? {
    (draining + [current].compactMap { $0 }).first { $0.owes(number) }
  }

  /// Takes new requests to another connection; what is open on this one may still be answered.
  func drop() {
    guard let link = current else { return }
    current = nil
    draining.append(link)
    link.connection?.close(graceful: link.isUp)
  }

  fileprivate func flush() {
    guard !waiting.isEmpty else { return }
    if current == nil {
      let link = ExchangeLink(self)
      current = link
      link.connection = .connect(
        to: server.endpoint, tls: tls, on: loop, settings: .client, limits: limits, through: dialer, handler: link)
    }
    while let current, current.isFree, !waiting.isEmpty { current.submit(waiting.removeFirst()) }
  }

  /// A connection takes no more requests.
  fileprivate func leaves(_ link: ExchangeLink) {
    guard current === link else { return }
    current = nil
    draining.append(link)
    flush()
  }

  fileprivate func ended(_ link: ExchangeLink, _ fault: TransportFault) {
    draining.removeAll { $0 === link }
    guard current === link else { return }
    current = nil
    let unsent = waiting
    waiting = []
    let isRefused = fault.kind == .certificateRefused
    for waiter in unsent {
      waiter.done.resume(returning: .unprocessed(fault.description, isCertificateRefused: isRefused))
    }
  }
}

/// One connection of a line, with the requests that it owes an answer.
private final class ExchangeLink: HTTP2ClientHandler {  // confined to the line's loop
  private weak var line: ExchangeLine?
  var connection: HTTP2ClientConnection?
  private(set) var isUp = false
  private var open: [Int32: ExchangeLine.Waiter] = [:]
  /// What APNs said against our certificate as it closed the connection (spec apns.md §8.2).
  private var complaint: String?

  init(_ line: ExchangeLine) { self.line = line }

  var isFree: Bool { connection.map { $0.isOpen && $0.freeStreams > 0 } ?? false }

  func submit(_ waiter: ExchangeLine.Waiter) {
    guard let connection else { return waiter.done.resume(returning: .unprocessed("the connection is gone")) }
    do throws(HTTP2SubmitFault) {
      let stream = try connection.submit(
        common: waiter.request.common, path: waiter.request.path, own: waiter.request.own, body: waiter.request.body)
      open[stream] = waiter
    } catch {
      waiter.done.resume(returning: .unprocessed("it cannot be sent: \(error)"))
    }
  }

  func owes(_ number: UInt64) -> Bool { open.contains { $0.value.number == number } }

  func giveUp(_ number: UInt64, _ why: String) {
    guard let (stream, waiter) = open.first(where: { $0.value.number == number }) else { return }
    open[stream] = nil
    waiter.done.resume(returning: .unanswered(why))
    connection?.reset(stream: stream)
  }

  func connected() {}

  func settingsChanged(maxConcurrentStreams: UInt32) {
    isUp = true
    line?.flush()
  }

  func response(stream: Int32, _ response: HTTP2Response) {
    open.removeValue(forKey: stream)?.done.resume(returning: .answered(response))
    line?.flush()
  }

  func streamFailed(stream: Int32, code: HTTP2ErrorCode) {
    open.removeValue(forKey: stream)?.done.resume(
      returning: code == .refusedStream
        ? .unprocessed(complaint ?? "the stream was refused", isCertificateRefused: complaint != nil)
        : .unanswered("the stream was reset with code \(code.rawValue)"))
    line?.flush()
  }

  func answerTooLarge(stream: Int32, why: String) {
    open.removeValue(forKey: stream)?.done.resume(returning: .unanswered(why))
    line?.flush()
  }

  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    if let reason = Answer.reason(inGoAway: debugData).flatMap(RefusalReason.init), reason.handling == .credential {
      complaint = reason.words
    }
    line?.leaves(self)
  }

  func pong() {}

  func closed(_ fault: TransportFault) {
    connection = nil
    let owed = open.values
    open = [:]
    // a client certificate is refused after our first bytes may have left (TLS 1.3), and then nothing was looked at
    let isRefused = fault.kind == .certificateRefused
    for waiter in owed {
      waiter.done.resume(
        returning: isRefused
          ? .unprocessed(fault.description, isCertificateRefused: true) : .unanswered(fault.description))
    }
    line?.ended(self, fault)
  }
}
