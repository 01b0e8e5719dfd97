import Basics
import BelfryTesting
import Delivery
import HTTPAPI
import PushPayload
import PushService
import Testing
import Transport

@Suite("Files of names", .timeLimit(.minutes(2)))
struct FileCallTests {
  static let formType = ["Content-Type": "multipart/form-data; boundary=xYz"]

  static func form(_ content: String, ttl: String? = nil, name: String = "names.txt") -> String {
    let first = ttl.map { "--xYz\r\nContent-Disposition: form-data; name=\"ttl\"\r\n\r\n\($0)\r\n" } ?? ""
    return first + "--xYz\r\nContent-Disposition: form-data; name=\"filename\"; filename=\"\(name)\"\r\n"
      + "Content-Type: text/plain\r\n\r\n\(content)\r\n--xYz--\r\n"
  }

  private func upload(_ bench: Bench, _ content: String, _ path: String = "alias") async throws -> String {
    let reply = try await bench.call("POST", "/v3/files/\(path)", headers: Self.formType, Self.form(content))
    #expect(reply.json.object?.members.map(\.key) == ["file_id"], "\(reply.text)")
    return try #require(reply.json.object?["file_id"]?.string, "\(reply.text)")
  }

  private static func push(_ file: String) -> String {
    "{\"platform\":\"all\",\"audience\":{\"file\":{\"file_id\":\"\(file)\"}},\"notification\":{\"alert\":\"hi\"}}"
  }

  @Test("§5.5 a file is uploaded, listed, read, pushed to and deleted", arguments: Depth.allCases)
  func lives(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let first = try await bench.device(1, alias: "lin")
      _ = try await bench.device(2, alias: "wei")
      _ = try await bench.device(3, alias: "bo")
      let aliases = try await upload(bench, "\u{FEFF} lin \r\n\r\nwei\r\nghost")
      let ids = try await upload(bench, "\(first)\n", "registration_id/")
      #expect(aliases.hasPrefix("\(bench.app.appKey)-") && aliases.count == 24 + 1 + 36)
      let list = try await bench.call("GET", "/v3/files/")
      #expect(list.json.object?.members.map(\.key) == ["total_count", "files"])
      #expect(list.json.object?["total_count"] == 2)
      let one = try await bench.call("GET", "/v3/files/\(ids)")
      #expect(one.json == list.json.object?["files"]?.array?.last, "\(one.text)")
      #expect(one.json.object?["type"] == "registration_id" && one.json.object?["file_name"] == "names.txt")
      let zone = TimeZoneRules(fixed: 8 * 3600, abbreviation: "CST")
      let now = bench.clock.now
      #expect(one.json.object?["create_time"] == .string(zone.local(at: now).description))
      #expect(one.json.object?["expire_time"] == .string(zone.local(at: now + .hours(720)).description))
      for (file, count) in [(aliases, 2), (ids, 3)] {
        let reply = try await bench.call("POST", "/v3/push/file", Self.push(file))
        #expect(reply.json.object?.members.map(\.key) == ["sendno", "msg_id"], "\(reply.text)")
        _ = await bench.apns.received(count)
      }
      #expect(await bench.apns.received(3).map { Int($0.token[0]) }.sorted() == [1, 1, 2])
      for _ in 1...2 {
        let gone = try await bench.call("DELETE", "/v3/files/\(aliases)")
        #expect(gone.status == 200 && gone.text.isEmpty)
      }
      #expect(try await bench.call("GET", "/v3/files/\(aliases)").errorCode == 1003)
      #expect(try await bench.call("POST", "/v3/push/file", Self.push(aliases)).errorCode == 1003)
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      let stranger = Bench.Who.other(other.appKey, other.masterSecret)
      #expect(try await bench.call("POST", "/v3/push/file", as: stranger, Self.push(ids)).errorCode == 1003)
      #expect(try await bench.call("GET", "/v3/files", as: stranger).json.object?["total_count"] == 0)
    }
  }

  static let refusals: [(String, Int, String)] = [
    (form("a b\n"), 1003, "line 1"), (form("lin\nwei\n\nx-y"), 1003, "line 4"), (form("\n \n"), 1003, "nobody"),
    (form("lin", ttl: "0"), 1003, "ttl"), (form("lin", ttl: "721"), 1003, "ttl"), (form("lin", ttl: "x"), 1003, "ttl"),
    ("--xYz\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nlin\r\n--xYz--", 1002, "filename"),
    ("--xYz\r\nContent-Disposition: form-data; name=\"filename\"\r\n\r\nlin", 1003, "multipart"),
    ("lin", 1003, "multipart"),
  ]

  @Test("§5.5 what is wrong with a file is told with its line, and nothing is kept", arguments: refusals.indices)
  func refuses(index: Int) async throws {
    let (body, code, word) = Self.refusals[index]
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call("POST", "/v3/files/alias", headers: Self.formType, body)
      #expect(reply.status == 400 && reply.errorCode == code && reply.errorMessage.contains(word), "\(reply.text)")
      #expect(try await bench.call("GET", "/v3/files").json.object?["total_count"] == 0)
    }
  }

  @Test("§5.5 twenty live files, and their ttl in hours")
  func limits() async throws {
    try await Bench.with(.inProcess) { bench in
      for _ in 0..<20 {
        let reply = try await bench.call(
          "POST", "/v3/files/alias", headers: Self.formType, Self.form("lin", ttl: "2"))
        #expect(reply.status == 200)
      }
      let full = try await bench.call("POST", "/v3/files/alias", headers: Self.formType, Self.form("lin"))
      #expect(full.errorCode == 1012, "\(full.text)")
      bench.clock.advance(by: .hours(2))
      #expect(try await bench.call("GET", "/v3/files").json.object?["total_count"] == 0)
      _ = try await upload(bench, "lin")
    }
  }

  @Test("§5.5 a file may have 10 MB where other bodies may not, over the wire")
  func sizes() async throws {
    try await Bench.with(.live) { bench in
      _ = try await bench.device(1, alias: "lin")
      let file = try await upload(bench, String(repeating: "stranger01\n", count: 800_000) + "lin")
      let push = try await bench.call("POST", "/v3/push/file", Self.push(file))
      #expect(push.status == 200, "\(push.text)")
      #expect(await bench.apns.received(1).count == 1)
      let large = String(repeating: "stranger01\n", count: 1_000_000)
      let refused = try await bench.call("POST", "/v3/files/alias", headers: Self.formType, Self.form(large))
      #expect(refused.errorCode == 1005, "\(refused.text)")
      let elsewhere = try await bench.call("POST", "/v3/push", String(repeating: " ", count: 5 << 20))
      #expect(elsewhere.status == 413)
    }
  }

  @Test("§5.4 a developer's file reaches every app of a group")
  func groups() async throws {
    try await Bench.with(.inProcess) { bench in
      let developer = try await bench.service.createDeveloper(name: nil)
      let who = Bench.Who.other(developer.developer.key, developer.secret)
      let group = try await bench.service.createGroup(name: nil)
      try await bench.service.addApp(key: bench.app.appKey, toGroup: group.group.key)
      _ = try await bench.device(1, alias: "lin")
      let upload = try await bench.call("POST", "/v3/files/alias", as: who, headers: Self.formType, Self.form("lin"))
      let file = try #require(upload.json.object?["file_id"]?.string, "\(upload.text)")
      let caller = Bench.Who.other("group-\(group.group.key)", group.masterSecret)
      let reply = try await bench.call("POST", "/v3/grouppush/file", as: caller, Self.push(file))
      #expect(reply.json.object?[bench.app.appKey]?.object?["msg_id"] != nil, "\(reply.text)")
      #expect(await bench.apns.received(1).count == 1)
      let all = "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"hi\"}}"
      #expect(try await bench.call("POST", "/v3/grouppush/file", as: caller, all).errorCode == 1002)
      let wrong = Bench.Who.other(developer.developer.key, bench.app.masterSecret)
      #expect(try await bench.call("GET", "/v3/files", as: wrong).errorCode == 1004)
    }
  }
}

@Suite("Files over /v1", .timeLimit(.minutes(2)))
struct FileResourceTests {
  @Test("a file is kept, named in an audience beside other clauses, read and deleted", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let first = try await bench.device(1, alias: "lin", tags: ["vip"])
      _ = try await bench.device(2, alias: "wei")
      _ = try await bench.device(3, alias: "bo", tags: ["vip"])
      let headers = ["Content-Type": "text/plain", "Idempotency-Key": "a"]
      let path = "/v1/files?kind=alias&name=winners&hours=2"
      let made = try await bench.call("POST", path, headers: headers, "lin\r\n wei \n\nghost\n")
      #expect(made.status == 201, "\(made.text)")
      let id = try #require(made.json.object?["id"]?.string)
      let again = try await bench.call("POST", path, headers: headers, "lin\r\n wei \n\nghost\n")
      #expect(again.status == 200 && again.json == made.json)
      let another = try await bench.call("POST", path, headers: headers, "wei")
      #expect(another.status == 409 && another.json.object?["place"] == "Idempotency-Key", "\(another.text)")
      #expect(try await bench.call("GET", "/v1/files").json.object?["files"]?.array == [made.json])
      #expect(try await bench.call("GET", "/v1/files/\(id)").json == made.json)
      #expect(made.json.object?["name"] == "winners" && made.json.object?["kind"] == "alias")
      #expect(made.json.object?["expiresAt"] == .string((bench.clock.now + .hours(2)).description))
      let ids = try await bench.call(
        "POST", "/v1/files?kind=registrationId", headers: ["Content-Type": "text/plain"], first)
      let other = try #require(ids.json.object?["id"]?.string, "\(ids.text)")
      for (audience, count) in [
        (#"{"file":"\#(id)"}"#, 2), (#"{"file":"\#(id)","tag":"vip"}"#, 1), (#"{"not":{"file":"\#(id)"}}"#, 1),
        (#"{"file":["\#(id)","\#(other)"]}"#, 2), (#"{"file":"\#(other)"}"#, 1),
      ] {
        let answer = try await bench.call("POST", "/v1/audiences/count", #"{"audience":\#(audience)}"#)
        #expect(answer.json.object?["production"] == .number(JSONNumber(count)), "\(audience): \(answer.text)")
      }
      let push = try await bench.call(
        "POST", "/v1/pushes", #"{"audience":{"file":"\#(id)","tag":"vip"},"alert":"You won"}"#)
      #expect(push.status == 201 && push.json.object?["targeted"] == 1, "\(push.text)")
      #expect(await bench.apns.received(1).map { Int($0.token[0]) } == [1])
      #expect(try await bench.call("DELETE", "/v1/files/\(id)").status == 204)
      #expect(try await bench.call("DELETE", "/v1/files/\(id)").errorCode == 9404)
      let gone = try await bench.call("POST", "/v1/pushes", #"{"audience":{"file":"\#(id)"},"alert":"Late"}"#)
      #expect(gone.status == 400 && gone.json.object?["place"] == "audience.file", "\(gone.text)")
    }
  }

  @Test(
    "what is wrong is named, and keeps nothing",
    arguments: [
      ("?kind=alias", "", "body"), ("?kind=alias", "ok\nnot ok!\n", "body, line 2"), ("", "lin", "kind"),
      ("?kind=tag", "lin", "kind"), ("?kind=alias&hours=721", "lin", "hours"), ("?kind=alias&hours=x", "lin", "hours"),
      ("?kind=alias&color=red", "lin", "color"),
    ])
  func refuses(query: String, body: String, place: String) async throws {
    try await Bench.with(.inProcess) { bench in
      let answer = try await bench.call("POST", "/v1/files\(query)", headers: ["Content-Type": "text/plain"], body)
      #expect(answer.status == 400 && answer.json.object?["place"] == .string(place), "\(answer.text)")
      #expect(try await bench.call("GET", "/v1/files").json.object?["files"]?.array == [])
    }
  }

  @Test("another app's file is nobody here; a segment, which would outlive it, names none")
  func foreign() async throws {
    try await Bench.with(.inProcess) { bench in
      let other = try await bench.service.createApp(bundleID: "com.example.other", name: nil)
      let made = try await bench.call(
        "POST", "/v1/files?kind=alias", as: .other(other.appKey, other.masterSecret),
        headers: ["Content-Type": "text/plain"], "lin")
      let id = try #require(made.json.object?["id"]?.string)
      #expect(try await bench.call("GET", "/v1/files/\(id)").status == 404)
      #expect(try await bench.call("DELETE", "/v1/files/\(id)").status == 404)
      let count = try await bench.call("POST", "/v1/audiences/count", #"{"audience":{"file":"\#(id)"}}"#)
      #expect(count.status == 400 && count.json.object?["place"] == "audience.file")
      let own = try await bench.call(
        "POST", "/v1/files?kind=alias", headers: ["Content-Type": "text/plain"], "lin")
      let mine = try #require(own.json.object?["id"]?.string)
      let segment = try await bench.call("PUT", "/v1/segments/s", #"{"audience":{"not":{"file":"\#(mine)"}}}"#)
      #expect(segment.status == 400 && segment.text.contains("outlive"), "\(segment.text)")
    }
  }
}
