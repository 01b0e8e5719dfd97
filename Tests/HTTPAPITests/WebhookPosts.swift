import Basics
import BelfryTesting
import PushService

/// The receiver of webhooks in a test: keeps what comes, and answers what it is told to.
final class WebhookPosts: Sendable {
  let requests = Recorder<Webhooking.Request>()
  private let next = Locked<Webhooking.Answer>(.success(200))

  func answer(_ request: Webhooking.Request) -> Webhooking.Answer {
    requests.record(request)
    return next.withLock { $0 }
  }

  func answer(with answer: Webhooking.Answer) { next.withLock { $0 = answer } }
}
