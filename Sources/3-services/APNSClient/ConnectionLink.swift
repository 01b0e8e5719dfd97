import Basics
import Delivery
import Transport

/// What happened on the client's connections during one turn of the loop. Collected, then handled together, so that a
/// thousand answers cost one look at the clock and one wake-up.
final class TurnInbox {  // confined to the client's loop
  enum Item {
    case event(SendingPool.Event)
    /// A refusal, whose meaning for credential and topic the client looks at first.
    case refused(ConnectionID, StreamID, PushOutcome.Refusal, date: [UInt8]?)
    case connected(ConnectionID)
    case goAway(ConnectionID, reason: String?)
    case ended(ConnectionID, TransportFault)
  }

  var items: [Item] = []
  private var isScheduled = false
  private let loop: EventLoop
  weak var client: APNSClient?

  init(loop: EventLoop) { self.loop = loop }

  func add(_ item: Item) {
    items.append(item)
    guard !isScheduled else { return }
    isScheduled = true
    // runs at the end of this turn, before the loop waits and before output leaves
    nonisolated(unsafe) let inbox = self  // touched on the loop only
    loop.execute {
      inbox.isScheduled = false
      inbox.client?.assumeIsolated { $0.turnEnded() }
    }
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
  private let id: ConnectionID
  private let inbox: TurnInbox
  /// nil until `connect` returned and after the client let go.
  var connection: HTTP2ClientConnection?
  /// The client wants to hear no more.
  var isReleased = false
  /// The provider token of the last push sent here, and since when.
  private(set) var generation: ProviderTokenLife.Generation?
  private var generationSince = Instant.Span.milliseconds(0)
  var isConnected = false
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

  func response(stream: Int32, _ response: HTTP2Response) {
    let stream = StreamID(rawValue: stream)
    let answer = Answer(
      status: response.status, body: response.body, uniqueID: response.fields.text("apns-unique-id"))
    switch answer {
    case .accepted: add(.event(.answered(id, stream, answer)))
    case .refused(let refusal): add(.refused(id, stream, refusal, date: response.fields["date"].map(Array.init)))
    }
  }

  func streamFailed(stream: Int32, code: HTTP2ErrorCode) {
    add(.event(.reset(id, StreamID(rawValue: stream), unprocessed: code == .refusedStream)))
  }

  func goAway(lastStream: Int32, code: HTTP2ErrorCode, debugData: [UInt8]) {
    let reason = Answer.reason(inGoAway: debugData)
    add(.goAway(id, reason: reason))
    add(.event(.goAway(id, last: StreamID(rawValue: lastStream), reason: reason)))
  }

  func pong() { add(.event(.pong(id))) }

  func closed(_ fault: TransportFault) { add(.ended(id, fault)) }
}
