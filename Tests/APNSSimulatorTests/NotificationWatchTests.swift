import Basics
import PushPayload
import Testing

@testable import APNSSimulator

@Suite("Waiting for pushes")
struct NotificationWatchTests {
  private static func entry(_ number: UInt64, token: UInt8 = 1, fate: LoggedNotification.Fate? = nil)
    -> LoggedNotification
  {
    let now = Instant(milliseconds: 0)
    return LoggedNotification(
      number: number, device: "phone",
      push: DeliveredPush(
        id: "\(number)", token: [token], topic: "a", bundleID: "a", environment: .sandbox, pushType: .alert,
        priority: .immediate, collapseID: nil, expiration: nil, payload: [], receivedAt: now),
      uniqueID: nil, remarks: [], findings: [], fate: fate ?? .delivered(now))
  }

  @Test("tells what came while nobody asked, oldest first, each once and as it is last")
  func pending() async {
    let watch = NotificationWatch(number: 1) { $0.push.token == [1] }
    watch.offer([Self.entry(2), Self.entry(3, token: 2)])
    watch.offer([Self.entry(1), Self.entry(2, fate: .stored(Instant(milliseconds: 0), .offline))])
    let told = await watch.next()
    #expect(told?.map(\.number) == [1, 2])
    #expect(told?.last?.fate == .stored(Instant(milliseconds: 0), .offline))
  }

  @Test("wakes who waits, and nobody for what does not concern")
  func wakes() async {
    let watch = NotificationWatch(number: 1) { $0.push.token == [1] }
    async let told = watch.next()
    watch.offer([Self.entry(1, token: 2)])
    watch.offer([Self.entry(2)])
    #expect(await told?.map(\.number) == [2])
  }

  @Test("its end gives what is pending, then nil; so does a cancelled task")
  func ends() async {
    let watch = NotificationWatch(number: 1) { _ in true }
    watch.offer([Self.entry(1)])
    watch.end()
    #expect(await watch.next()?.count == 1)
    #expect(await watch.next() == nil)
    let other = NotificationWatch(number: 2) { _ in true }
    let waiter = Task { await other.next() }
    waiter.cancel()
    #expect(await waiter.value == nil)
  }

  @Test("the log notes what came and changed only while somebody watches")
  func touched() {
    var log = RecentLog<LoggedNotification>(capacity: 2)
    log.append { Self.entry($0) }
    #expect(log.takeTouched().isEmpty)
    log.isWatched = true
    for _ in 2...4 { log.append { Self.entry($0) } }
    log.update(4) { $0.fate = .stored(Instant(milliseconds: 0), .offline) }
    log.update(1) { $0.fate = .stored(Instant(milliseconds: 0), .offline) }
    #expect(log.snapshot.first == 3 && log.snapshot.last == 4)
    let touched = log.takeTouched()
    #expect(touched.map(\.number) == [3, 4])
    #expect(touched.last?.fate == .stored(Instant(milliseconds: 0), .offline))
    #expect(log.takeTouched().isEmpty)
  }
}
