import Basics
import PushPayload

/// How far a notification may interrupt (spec section I5).
extension Phone {
  mutating func answerTimeSensitive(_ app: Int, keep: Bool) {
    record(.notModelled("the question about time-sensitive notifications"), app, "D-266")
  }
}
