import Basics
import Delivery
import Transport

/// What happened on the client's connections during one turn of the loop. Collected, then handled together, so that a
/// thousand answers cost one look at the clock and one wake-up.
final class TurnInbox {  // confined to the client's loop
  enum Item {
    /// Pushes that were simply accepted: their streams, in `streams`.
    case accepted(ConnectionLink, Range<Int>)
    case event(SendingPool.Event)
    /// A refusal, whose meaning for credential and topic the client looks at first.
    case refused(ConnectionID, StreamID, PushOutcome.Refusal, date: [UInt8]?)
    case connected(ConnectionID)
    case goAway(ConnectionID, reason: String?)
    case ended(ConnectionID, TransportFault)
  }

  var items: [Item] = []
  var streams: [StreamID] = []
  /// The last item is `accepted` of that link, from there on; how far, it is told when the run ends. Only compared: the
  /// item keeps the link.
  private var run: (link: ObjectIdentifier, start: Int)?
  private var isScheduled = false
  private let loop: EventLoop
  weak var client: APNSClient?

  init(loop: EventLoop) { self.loop = loop }

  func accepted(_ stream: StreamID, _ link: ConnectionLink) {
    if let run, run.link == ObjectIdentifier(link) { return streams.append(stream) }
    let start = streams.count
    streams.append(stream)
    add(.accepted(link, start..<streams.count))
    run = (ObjectIdentifier(link), start)
  }

  private func endRun() {
    guard let run else { return }
    self.run = nil
    guard case .accepted(let link, _) = items.last else { return }
    items[items.count - 1] = .accepted(link, run.start..<streams.count)
  }

  /// Lets the client see what has come, if anything.
  func handOver() {
    isScheduled = false
    endRun()
    guard !items.isEmpty else { return }
    client?.assumeIsolated { $0.turnEnded() }
  }

  func add(_ item: Item) {
    endRun()
    items.append(item)
    guard !isScheduled else { return }
    isScheduled = true
    // runs at the end of this turn, before the loop waits and before output leaves
    nonisolated(unsafe) let inbox = self  // touched on the loop only
    loop.execute { inbox.handOver() }
  }
}

/// The links of one client, closed when a client is let go without `close`. A box with a plain `deinit`: an actor with an
/// `isolated deinit` stops the optimiser of Swift 6.3 ("circular reference") in modules that make one.
final class OpenLinks {  // confined to the client's loop
  var links: [ConnectionID: ConnectionLink] = [:]
  private let loop: EventLoop

  init(loop: EventLoop) { self.loop = loop }

  deinit {
    guard !links.isEmpty else { return }
    nonisolated(unsafe) let left = links  // the box was the only owner; touched on the loop from here on
    loop.execute {
      for link in left.values {
        link.isReleased = true
        link.connection?.close(graceful: false)
      }
    }
  }
}

/// Hands what one connection says to the client's inbox.
final class ConnectionLink: HTTP2ClientHandler {  // confined to the client's loop
  let id: ConnectionID
  private let inbox: TurnInbox
  /// nil until `connect` returned and after the client let go.
  var connection: HTTP2ClientConnection?
  /// The client wants to hear no more.
  var isReleased = false
  /// The provider token of the last push sent here, and since when.
  private(set) var generation: ProviderTokenLife.Generation?
  private var generationSince = Instant.Span.milliseconds(0)
  var isConnected = false
  /// Bodies wait for the peer's window; what the pool was told last.
  var isNarrow = false
  /// Which of the client's credentials it was opened with.
  var epoch = 0

  init(_ id: ConnectionID, _ inbox: TurnInbox) {
    self.id = id
    self.inbox = inbox
  }

  /// Goes over to another provider token, unless that would be the second within 20 minutes here, which APNs answers with
  /// TooManyProviderTokenUpdates (Apple, "Establishing a token-based connection to APNs"; case C27).
  func takes(_ next: ProviderTokenLife.Generation, at moment: Moment) -> Bool {
    let age = moment.uptime.milliseconds - generationSince.milliseconds
    guard generation == nil || age >= Instant.Span.minutes(20).milliseconds else { return false }
    generation = next
    generationSince = moment.uptime
    return true
  }

  private func add(_ item: TurnInbox.Item) {
    guard !isReleased else { return }
    inbox.add(item)
  }

  func connected() { add(.connected(id)) }

  func settingsChanged(maxConcurrentStreams: UInt32) {
    add(.event(.settings(id, maxConcurrentStreams: maxConcurrentStreams)))
  }

  func bareResponse(stream: Int32, status: Int) {
    guard !(200..<300 ~= status) else {
      if !isReleased { inbox.accepted(StreamID(rawValue: stream), self) }
      return
    }
    answered(StreamID(rawValue: stream), Answer(status: status, body: []), date: nil)
  }

  func response(stream: Int32, _ response: HTTP2Response) {
    let answer = Answer(
      status: response.status, body: response.body, uniqueID: response.fields.text("apns-unique-id"))
    answered(StreamID(rawValue: stream), answer, date: response.fields["date"].map(Array.init))
  }

  private func answered(_ stream: StreamID, _ answer: Answer, date: [UInt8]?) {
    switch answer {
    case .accepted(uniqueID: nil): if !isReleased { inbox.accepted(stream, self) }
    case .accepted: add(.event(.answered(id, stream, answer)))
    case .refused(let refusal): add(.refused(id, stream, refusal, date: date))
    }
  }

  func streamFailed(stream: Int32, code: HTTP2ErrorCode) {
    add(.event(.reset(id, StreamID(rawValue: stream), unprocessed: code == .refusedStream)))
  }

  func answerTooLarge(stream: Int32, why: String) { add(.event(.spoilt(id, StreamID(rawValue: stream), why))) }

  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    let reason = Answer.reason(inGoAway: debugData)
    add(.goAway(id, reason: reason))
    add(.event(.goAway(id, last: StreamID(rawValue: lastStream), reason: reason)))
  }

  func inputHandled() { inbox.handOver() }

  func pong() { add(.event(.pong(id))) }

  func closed(_ fault: TransportFault) { add(.ended(id, fault)) }
}
