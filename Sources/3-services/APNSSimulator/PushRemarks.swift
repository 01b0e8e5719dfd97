internal import Basics
internal import PushPayload

/// What is odd about a push though APNs takes it.
enum PushRemarks {
  static func remarks(on push: CheckedPush, now: Instant) -> [String] {
    var remarks: [String] = []
    if push.isPushTypeInferred {
      remarks.append("apns-push-type is absent; taken for \(push.pushType)")
    }
    if push.pushType == .background, push.priority == .immediate {
      remarks.append("a background push at priority 10: Apple calls it an error, phones may never see it; send 5")
    }
    if let expiration = push.expiration, expiration > 0 {
      if expiration > (now + .days(3650)).seconds {
        remarks.append("apns-expiration \(expiration) looks like milliseconds; it counts seconds")
      } else if expiration < Instant.Span.days(3650).milliseconds / 1000 {
        remarks.append("apns-expiration \(expiration) looks like an interval; it is seconds since 1970")
      } else if expiration <= now.seconds {
        remarks.append("apns-expiration \(expiration) is past; one attempt at most")
      }
    }
    return remarks
  }
}
