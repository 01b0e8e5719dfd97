public import Basics
public import Store

/// What webhooks need of the world.
public struct Webhooking: Sendable {
  /// A POST as it leaves, signed.
  public struct Request: Sendable, Equatable {
    public var url: String
    public var headers: [String: String]
    public var body: [UInt8]
  }

  /// The receiver's status, or why there is none.
  public typealias Answer = Result<Int, Fault>

  public struct Fault: Error, Sendable, Hashable {
    /// Holds no secret.
    public var words: String
    public init(_ words: String) { self.words = words }
  }

  /// Posts one request and returns within about `timeout`; must not block Swift's pool, nor go where the operator does not
  /// want it to. Calls for different webhooks run side by side. Cancelled, it returns within about a second.
  public typealias Send = @Sendable (_ webhook: Int64, Request, _ timeout: Instant.Span) async -> Answer

  var send: Send
  var spike: FailureSpike

  public init(spike: FailureSpike = FailureSpike(), send: @escaping Send) {
    self.spike = spike
    self.send = send
  }

  static let timeout = Instant.Span.seconds(10)

  /// Signs with the webhook's secret, and for a while with the one before too, sends, and tells what came of it.
  func post(
    _ message: WebhookMessage, to webhook: StoredWebhook, _ key: SealingKey, clock: any WallClock
  ) async -> WebhookAttempt {
    let (at, start) = (clock.now, clock.uptime)
    var attempt = WebhookAttempt(
      at: at, firstEvent: message.first, events: message.count, status: nil, fault: nil, took: .milliseconds(0))
    guard let secret = key.open(webhook.secret, for: .webhookSecret) else {
      attempt.fault = "its secret cannot be read: it was sealed under another key"
      return attempt
    }
    var secrets = [secret]
    if let former = webhook.former, former.until > at, let old = key.open(former.secret, for: .webhookSecret) {
      secrets.append(old)
    }
    switch await send(webhook.id, message.signed(secrets, for: webhook.url, at: at), Self.timeout) {
    case .success(let status):
      attempt.status = status
      if !(200..<300 ~= status) {
        attempt.fault = 300..<400 ~= status ? "a redirect, which is not followed" : "not taken"
      }
    case .failure(let fault): attempt.fault = fault.words
    }
    attempt.took = clock.uptime - start
    return attempt
  }
}
