import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing
import Transport

@testable import HTTPAPI

@Suite("Pushes of /v1", .timeLimit(.minutes(2)))
struct NativePushTests {
  private func register(_ bench: Bench, _ number: Int, _ more: String = "") async throws -> String {
    let reply = try await bench.call(
      "POST", "/device/v1/registrations", as: .nobody,
      "{\"appKey\":\"\(bench.app.appKey)\",\"token\":\"\(Bench.token(number).hex)\"\(more)}")
    return try #require(reply.json.object?["registrationId"]?.string, "\(reply.text)")
  }

  private func payload(_ push: OutgoingPush) -> JSONObject {
    var object = (try? JSONReader.read(push.payload).value.object) ?? JSONObject()
    object["_j_msgid"] = nil
    return object
  }

  struct KindRow: Sendable, CustomTestStringConvertible {
    var body: String
    var pushType: PushType
    var priority: PushPriority
    var payload: JSONObject
    var testDescription: String { body }
  }

  @Test(
    "the seeds' three kinds get the right headers by themselves",
    arguments: [
      KindRow(
        body: #""alert":"Hello","sound":"default""#, pushType: .alert, priority: .immediate,
        payload: ["aps": ["alert": "Hello", "sound": "default"]]),
      KindRow(
        body: #""kind":"normal","badge":"+2","category":"c","threadId":"t","interruptionLevel":"passive""#,
        pushType: .alert, priority: .immediate,
        payload: ["aps": ["badge": 2, "category": "c", "thread-id": "t", "interruption-level": "passive"]]),
      KindRow(
        body: #""kind":"background","alert":{"title":"T","body":"B"},"data":{"order":7}"#, pushType: .alert,
        priority: .immediate,
        payload: ["aps": ["alert": ["title": "T", "body": "B"], "content-available": 1], "order": 7]),
      KindRow(
        body: #""kind":"silent","data":{"sync":true}"#, pushType: .background, priority: .considerate,
        payload: ["aps": ["content-available": 1], "sync": true]),
      KindRow(
        body: #""alert":"Hello","attachments":["https://example.com/cat.jpg"]"#, pushType: .alert, priority: .immediate,
        payload: [
          "aps": ["alert": "Hello", "mutable-content": 1], "attachments": ["https://example.com/cat.jpg"],
        ]),
    ])
  func kinds(row: KindRow) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await register(bench, 1)
      let reply = try await bench.call("POST", "/v1/pushes", #"{"audience":"everyone",\#(row.body)}"#)
      #expect(reply.status == 201, "\(reply.text)")
      #expect(reply.json.object?["targeted"] == 1)
      let sent = await bench.apns.received(1)
      #expect(sent.map(\.pushType) == [row.pushType])
      #expect(sent.map(\.priority) == [row.priority])
      // members compare in their order; that of aps is the service's own
      let aps = Set((payload(sent[0])["aps"]?.object?.members ?? []).map { "\($0.key) \($0.value.text)" })
      #expect(aps == Set((row.payload["aps"]?.object?.members ?? []).map { "\($0.key) \($0.value.text)" }))
      #expect(payload(sent[0]).members.dropFirst().map(\.value) == row.payload.members.dropFirst().map(\.value))
    }
  }

  struct FaultRow: Sendable, CustomTestStringConvertible {
    var body: String
    var place: String
    var found: String
    var testDescription: String { body }
  }

  @Test(
    "what cannot be is told with its place",
    arguments: [
      FaultRow(body: #"{"alert":"x"}"#, place: "audience", found: "missing"),
      FaultRow(body: #"{"audience":"all","alert":"x"}"#, place: "audience", found: "is no audience"),
      FaultRow(body: #"{"audience":"everyone"}"#, place: "alert", found: "missing"),
      FaultRow(body: #"{"audience":"everyone","kind":"quiet"}"#, place: "kind", found: "none of its values"),
      FaultRow(body: #"{"audience":"everyone","kind":"silent","alert":"x"}"#, place: "alert", found: "shows nothing"),
      FaultRow(
        body: #"{"audience":"everyone","kind":"silent","languages":{"de":{"body":"x"}}}"#, place: "languages",
        found: "shows nothing"),
      FaultRow(
        body: #"{"audience":"everyone","languages":{"de":{"body":"x"}}}"#, place: "alert", found: "missing"),
      FaultRow(body: #"{"audience":"everyone","alert":"x","titel":"y"}"#, place: "titel", found: "does not exist"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"x","attachments":["http://a"]}"#, place: "attachments[0]",
        found: "no address"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"Hi {{name}}","places":true}"#, place: "places", found: "no default"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"Hi {{name","places":true}"#, place: "aps.alert", found: "no “}}”"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"x","recipients":{"r":{"a":"b"}}}"#, place: "recipients",
        found: "no text has places"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"x","languages":{"de":{}}}"#, place: "languages.de.body",
        found: "missing"),
      FaultRow(
        body: #"{"audience":"everyone","alert":"x","perSecond":5,"overMinutes":5}"#, place: "perSecond",
        found: "beside overMinutes"),
    ])
  func faults(row: FaultRow) async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await register(bench, 1)
      let reply = try await bench.call("POST", "/v1/pushes", row.body)
      #expect(reply.status == 400)
      #expect(reply.headers["content-type"] == "application/problem+json")
      #expect(reply.json.object?["place"]?.string == row.place, "\(reply.text)")
      #expect(reply.errorMessage.contains(row.found), "\(reply.text)")
    }
  }

  @Test("each device gets the texts of its language, with what is known of it", arguments: Depth.allCases)
  func personal(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let lin = try await register(bench, 1, #","language":"zh-Hans-CN","appVersion":"2.1""#)
      _ = try await register(bench, 2, #","language":"de-AT""#)
      _ = try await register(bench, 3)
      let reply = try await bench.call(
        "POST", "/v1/pushes",
        """
        {"audience":"everyone","alert":{"title":"News","body":"Hello {{name|there}}"},"badge":"+1","places":true,
          "languages":{"zh-CN":{"title":"新闻","body":"你好 {{name|}}，版本 {{appVersion|?}}"},"de":{"body":"Neues"}},
          "recipients":{"\(lin)":{"name":"林","order":7}},"data":{"url":"app://orders/{{order|0}}"}}
        """)
      #expect(reply.status == 201, "\(reply.text)")
      let sent = await bench.apns.received(3).sorted { $0.token.lexicographicallyPrecedes($1.token) }.map(payload)
      #expect(
        sent.map { $0["aps"]?.object?["alert"] } == [
          ["title": "新闻", "body": "你好 林，版本 2.1"], ["title": "News", "body": "Neues"],
          ["title": "News", "body": "Hello there"],
        ])
      #expect(sent.map { $0["url"] } == ["app://orders/7", "app://orders/0", "app://orders/0"])
      #expect(sent.map { $0["aps"]?.object?["badge"] } == [1, 1, 1])
    }
  }

  @Test("C10 what is too large is refused, or shortened on request, for each recipient")
  func shortened() async throws {
    try await Bench.with(.inProcess) { bench in
      let id = try await register(bench, 1)
      let text = String(repeating: "好", count: 1500)
      let refused = try await bench.call("POST", "/v1/pushes", #"{"audience":"everyone","alert":"\#(text)"}"#)
      #expect(refused.errorCode == 1005, "\(refused.text)")
      let taken = try await bench.call(
        "POST", "/v1/pushes",
        """
        {"audience":"everyone","alert":"{{text|}}","places":true,"shorten":true,"badge":"+1",
          "recipients":{"\(id)":{"text":"\(text)"}}}
        """)
      #expect(taken.status == 201, "\(taken.text)")
      let sent = await bench.apns.received(1)
      #expect(sent[0].payload.count <= 4096 && sent[0].payload.count > 4060)
      #expect(payload(sent[0])["aps"]?.object?["alert"]?.string?.hasSuffix("好…") == true)
    }
  }

  @Test("the same key and request answer the first push; with another request it is refused")
  func idempotency() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await register(bench, 1)
      let body = #"{"audience":"everyone","alert":"once"}"#
      func push(_ key: String, _ body: String) async throws -> Bench.Reply {
        try await bench.call("POST", "/v1/pushes", headers: ["Idempotency-Key": key], body)
      }
      let first = try await push("a1", body)
      let again = try await push("a1", body)
      #expect([first.status, again.status] == [201, 200])
      #expect(first.json.object?["id"] == again.json.object?["id"])
      #expect(first.headers["location"] == "/v1/pushes/\(first.json.object?["id"]?.string ?? "")")
      let other = try await push("a1", #"{"audience":"everyone","alert":"twice"}"#)
      #expect(other.status == 409 && other.json.object?["place"] == "Idempotency-Key", "\(other.text)")
      #expect(try await push("a b", body).status == 400)
      #expect(try await push("a2", body).status == 201)
      #expect(await bench.apns.received(2).count == 2)
    }
  }

  @Test("the preview tells whom it would reach and its size, and sends nothing")
  func preview() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await register(bench, 1)
      let reply = try await bench.call(
        "POST", "/v1/pushes/preview",
        #"{"audience":"everyone","alert":"Hello","languages":{"de":{"body":"Guten Tag, guten Tag"}}}"#)
      #expect(reply.status == 200, "\(reply.text)")
      let object = try #require(reply.json.object)
      #expect(object["targeted"] == 1 && object["pushType"] == "alert" && object["priority"] == 10)
      let whole = #"{"aps":{"alert":{"body":"Guten Tag, guten Tag"}},"_j_msgid":100000000000000000}"#
      #expect(object["sizes"]?.object?["ios"] == ["bytes": .number(JSONNumber(whole.utf8.count)), "limit": 4096])
      #expect(try await bench.call("GET", "/v1/pushes").json.object?["pushes"] == [])
    }
  }

  @Test("pushes are listed by pages, the newest first", arguments: Depth.allCases)
  func list(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await register(bench, 1)
      var ids: [JSONValue?] = []
      for number in 0..<5 {
        let reply = try await bench.call("POST", "/v1/pushes", #"{"audience":"everyone","alert":"\#(number)"}"#)
        ids.append(reply.json.object?["id"])
      }
      var seen: [JSONValue?] = []
      var cursor = ""
      while true {
        let page = try #require(try await bench.call("GET", "/v1/pushes?limit=2\(cursor)").json.object)
        seen += try #require(page["pushes"]?.array).map { $0.object?["id"] }
        guard let next = page["next"]?.string else { break }
        cursor = "&cursor=\(next)"
      }
      #expect(seen == ids.reversed())
      #expect(try await bench.call("GET", "/v1/pushes?cursor=x").status == 400)
    }
  }
}
