import Basics
import BelfryTesting
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("GET /notifications")
struct NotificationFilterTests {
  /// Three pushes: 1 and 2 to `phone`, 3 to `pad`; a minute between them.
  private static func scene(_ body: (ControlScene, String, String) async throws -> Void) async throws {
    try await ControlScene.run { scene in
      let (phone, pad) = (scene.token(), scene.token("pad", bundle: "com.example.two"))
      scene.push(phone, id: "AAAAAAAA-0000-0000-0000-000000000001", collapseID: "score")
      scene.clock.advance(by: .minutes(1))
      scene.push(
        phone, #"{"aps":{"content-available":1}}"#, id: "aaaaaaaa-0000-0000-0000-000000000002", type: .background,
        priority: .considerate)
      scene.clock.advance(by: .minutes(1))
      scene.core.withState { state, now in _ = state.setOnline(device: "pad", false, now: now) }
      scene.push(
        pad, #"{"aps":{"alert":"Hi","badge":"1"}}"#, id: "aaaaaaaa-0000-0000-0000-000000000003",
        topic: "com.example.two", sent: SentHeaders(hasPushType: false))
      try await body(scene, phone, pad)
    }
  }

  /// `PHONE` stands for its token.
  static let rows: [(query: String, numbers: [Int64])] = [
    ("", [1, 2, 3]), ("token=PHONE", [1, 2]), ("topic=com.example.two", [3]), ("bundle=com.example.app", [1, 2]),
    ("device=pad", [3]), ("id=aaaaaaaa-0000-0000-0000-000000000001", [1]), ("pushType=background", [2]),
    ("priority=10", [1, 3]), ("priority=1", []), ("collapseId=score", [1]), ("environment=production", []),
    ("environment=sandbox&device=phone&priority=5", [2]), ("state=stored", [3]), ("state=delivered", [1, 2]),
    ("finding=badge-invalid", [3]), ("finding=push-type-missing", [3]), ("findings=none", [2]),
    ("findings=any", [1, 3]), ("findings=error", [3]), ("since=1", [2, 3]), ("until=2", [1, 2]),
    ("since=1&until=2", [2]),
    ("since=2026-11-30T00:54:20Z&until=2026-11-30T00:55:20Z", [2]),
    ("since=2026-11-30T08:54:20%2B08:00", [2, 3]), ("since=2026-11-30T08:54:20+08:00", [2, 3]),
  ]

  @Test("finds by each condition, and by all of them together", arguments: rows)
  func conditions(query: String, numbers: [Int64]) async throws {
    try await Self.scene { scene, phone, _ in
      let answer = await scene.call("GET", "/notifications?" + query.replacing("PHONE", with: phone.uppercased()))
      #expect(answer.status == 200 && answer.numbers == numbers, "\(answer.text)")
      // What an assertion would be told of the others differs in at least one place, and in none for those.
      let request = HTTPRequest(method: "GET", path: "", query: query.replacing("PHONE", with: phone))
      let filter = try NotificationFilter(ControlQuery(request, known: NotificationFilter.names))
      for entry in scene.core.withState({ state, _ in state.notifications.all }) {
        #expect(filter.differences(entry).isEmpty == numbers.contains(Int64(entry.number)))
      }
    }
  }

  @Test("takes times from the first millisecond on and before the last, in any offset")
  func times() async throws {
    try await Self.scene { scene, _, _ in
      let start = scene.clock.now - .minutes(2)
      func numbers(_ since: Instant, _ until: Instant) async -> [Int64] {
        await scene.call("GET", "/notifications?since=\(since)&until=\(until)").numbers
      }
      #expect(await numbers(start, start + .minutes(2)) == [1, 2])
      #expect(await numbers(start + .milliseconds(1), start + .minutes(2) + .milliseconds(1)) == [2, 3])
      let east = "\(start + .hours(8))".dropLast() + "+08:00"
      #expect(await scene.call("GET", "/notifications?until=\(east)").numbers == [])
      #expect(await scene.call("GET", "/notifications?since=\(east)").numbers == [1, 2, 3])
    }
  }

  @Test("pages in a stable order: the cursor neither misses nor repeats, whatever comes in between")
  func cursor() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      var (seen, cursor, isLast): ([Int64], Int64, Bool) = ([], 0, false)
      for _ in 1...5 { scene.push(token) }
      while !isLast {
        let page = await scene.call("GET", "/notifications?token=\(token)&count=2&since=\(cursor)")
        seen += page.numbers
        cursor = page["cursor"]?.number?.int64 ?? -1
        isLast = page["more"] == false
        if seen.count == 4 { scene.push(token) }
      }
      #expect(seen == [1, 2, 3, 4, 5, 6])
      #expect(cursor == 6)
      #expect(await scene.call("GET", "/notifications?since=\(cursor)").numbers == [])
      #expect(await scene.call("DELETE", "/notifications").status == 204)
      scene.push(token)
      let after = await scene.call("GET", "/notifications?since=\(cursor)")
      #expect(after.numbers == [7] && after["first"] == 7)
    }
  }

  @Test("tells lint's findings with their places, and the headers as they came")
  func told() async throws {
    try await Self.scene { scene, _, _ in
      let answer = await scene.call("GET", "/notifications?finding=badge-invalid")
      let findings = answer["notifications", "0", "findings"]?.array ?? []
      let badge = findings.first { $0.object?["code"] == "badge-invalid" }?.object
      #expect(badge?["path"] == "aps.badge" && badge?["severity"] == "error" && badge?["line"] == 1)
      let type = findings.first { $0.object?["code"] == "push-type-missing" }?.object
      #expect(type?["header"] == "apns-push-type")
      let headers = answer["notifications", "0", "headers"]?.object
      #expect(headers?["apns-priority"] == "10" && headers?["apns-push-type"] == nil)
    }
  }

  @Test("waits until so many match, and says so; what does not match wakes nobody")
  func waits() async throws {
    try await ControlScene.run { scene in
      let (phone, pad) = (scene.token(), scene.token("pad"))
      scene.push(phone)
      async let answer = scene.call("GET", "/notifications?token=\(phone)&wait=5s&count=3")
      await scene.waiters(1)
      for token in [pad, phone, pad, phone, phone] { scene.push(token) }
      let told = await answer
      #expect(told.numbers.count == 3 && told["wait"] == "count", "\(told.text)")
      #expect(scene.core.watchCount == 0)
      let atOnce = await scene.call("GET", "/notifications?token=\(phone)&wait=5s&count=2")
      #expect(atOnce.numbers == [1, 3] && atOnce["more"] == true && atOnce["cursor"] == 3)
    }
  }

  @Test("waits for a state that a push comes into")
  func waitsForState() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      _ = scene.core.withState { state, now in state.setOnline(device: "phone", false, now: now) }
      scene.push(token)
      async let answer = scene.call("GET", "/notifications?state=delivered&wait=1m")
      await scene.waiters(1)
      scene.core.setOnline(device: "phone", true)
      #expect(await answer.numbers == [1])
    }
  }

  @Test("ends when the time is over, with what there is")
  func waitEnds() async throws {
    try await ControlScene.run { scene in
      let token = scene.token()
      scene.push(token)
      async let answer = scene.call("GET", "/notifications?wait=5s&count=2")
      while scene.clock.sleeperCount == 0 { await Task.yield() }
      scene.clock.advance(by: .seconds(5))
      let told = await answer
      #expect(told.numbers == [1] && told["wait"] == "time" && told["more"] == false)
      let none = await scene.call("GET", "/notifications?wait=0s&count=2")
      #expect(none["wait"] == "time")
    }
  }

  @Test("a hundred wait at once; each gets its own, and none is missed while it begins to wait")
  func manyWait() async throws {
    try await ControlScene.run { scene in
      let tokens = (0..<100).map { scene.token("phone-\($0)") }
      await withTaskGroup(of: Bool.self) { group in
        for token in tokens {
          group.addTask {
            await scene.call("GET", "/notifications?token=\(token)&wait=5m&count=2").numbers.count == 2
          }
        }
        for token in tokens + tokens.reversed() { scene.push(token) }
        for await isComplete in group { #expect(isComplete) }
      }
      #expect(scene.core.watchCount == 0)
    }
  }

  @Test("a waiter that leaves is forgotten; the end of the simulator answers those that wait")
  func leaves() async throws {
    try await ControlScene.run { scene in
      let waiter = Task { await scene.call("GET", "/notifications?wait=5m") }
      await scene.waiters(1)
      waiter.cancel()
      #expect(await waiter.value["wait"] == "time")
      #expect(scene.core.watchCount == 0)
      async let last = scene.call("GET", "/notifications?wait=5m")
      await scene.waiters(1)
      scene.core.endWatches()
      #expect(await last["wait"] == "time")
      #expect(await scene.call("GET", "/notifications?wait=5m").status == 503)
    }
  }

  @Test("over the wire: a push wakes who waits, and stopping does not wait for those who wait")
  func live() async throws {
    try await LiveScene.run { scene in
      let token = scene.simulator.issueToken(device: "phone", bundle: "com.example.app").hex
      async let answer = scene.control("GET", "/notifications?token=\(token)&wait=1m&count=2")
      let provider = try await scene.provider()
      let fields = [scene.authorization(), ("apns-topic", "com.example.app"), ("apns-prioriti", "5")]
      for _ in 1...2 { #expect(await provider.send("/3/device/\(token)", fields)?.status == 200) }
      let told = try await answer
      #expect(told["notifications"]?.array?.count == 2 && told["wait"] == "count")
      let codes = told["notifications", "0", "findings"]?.array?.compactMap { $0.object?["code"]?.string } ?? []
      #expect(codes.contains("unknown-header") && codes.contains("push-type-missing"), "\(codes)")
      await provider.close()
    }
  }
}
