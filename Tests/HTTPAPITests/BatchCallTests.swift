import BelfryTesting
import Delivery
import PushPayload
import Testing

@Suite("POST /v3/push/batch", .timeLimit(.minutes(2)))
struct BatchCallTests {
  private static let regid = "/v3/push/batch/regid/single"
  private static let alias = "/v3/push/batch/alias/single/"

  private static func entry(_ target: String, _ rest: String = "") -> String {
    "{\"platform\":\"all\",\"target\":\"\(target)\",\"notification\":{\"alert\":\"for \(target)\"}\(rest)}"
  }

  private static func list(_ entries: [(String, String)]) -> String {
    "{\"pushlist\":{" + entries.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}}"
  }

  @Test("§5.3 each entry is answered under its cid, ids as strings of digits", arguments: Depth.allCases)
  func answersEachEntry(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let first = try await bench.device(1, alias: "lin")
      let second = try await bench.device(2, alias: "wei")
      for (path, targets) in [(Self.regid, [first, second]), (Self.alias, ["lin", "wei"])] {
        let body = Self.list(targets.map { ("cid-\($0)", Self.entry($0)) })
        let reply = try await bench.call("POST", path, body)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply.json.object?.members.map(\.key) == targets.map { "cid-\($0)" })
        for answer in reply.json.object?.members ?? [] {
          #expect(answer.value.object?.members.map(\.key) == ["msg_id"])
          #expect(answer.value.object?["msg_id"]?.string.flatMap { Int64($0) } != nil)
        }
        let again = try await bench.call("POST", path, body)
        #expect(again.json == reply.json, "a cid sends once")
      }
      let sent = await bench.apns.received(4)
      #expect(sent.map { Int($0.token[0]) }.sorted() == [1, 1, 2, 2])
    }
  }

  @Test("§5.3 what is wrong with one entry is that entry's alone; the answer is 200", arguments: Depth.allCases)
  func failsInPart(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      _ = try await bench.device(1, alias: "lin")
      let reply = try await bench.call(
        "POST", Self.alias,
        Self.list([
          ("good", Self.entry("lin")), ("nobody", Self.entry("ghost")), ("badName", Self.entry("a b")),
          ("unknown", Self.entry("lin", ",\"audience\":\"all\"")), ("noTarget", "{\"platform\":\"all\"}"),
          ("noContent", "{\"platform\":\"all\",\"target\":\"lin\"}"), ("noObject", "7"), ("bad cid", Self.entry("lin")),
          ("told", Self.entry("lin", ",\"sms_message\":{}")),
        ]))
      #expect(reply.status == 200, "\(reply.text)")
      let codes = reply.json.object?.members.map { $0.value.object?["error"]?.object?["code"]?.number?.int64 }
      #expect(codes == [nil, 1011, 1003, 1009, 1002, 1002, 1003, 1003, nil])
      let words = reply.json.object?["unknown"]?.object?["error"]?.object?["message"]?.string ?? ""
      #expect(words.contains("pushlist.unknown.audience"), "\(words)")
      #expect(reply.warnings.count == 1 && reply.warnings[0].hasPrefix("told: "), "\(reply.warnings)")
      #expect(await bench.apns.received(2).count == 2)
    }
  }

  static let wholes: [(String, Int)] = [
    ("{}", 1002), ("{\"pushlist\":{}}", 1003), ("{\"pushlist\":[]}", 1003), ("[]", 1003), ("no JSON", 1003),
    ("{\"pushlist\":{},\"platform\":\"all\"}", 1009),
    (list((0...1000).map { ("c\($0)", "{}") }), 1003),
  ]

  @Test("§5.3 what is wrong with the whole is 400", arguments: wholes.indices)
  func refusesTheWhole(index: Int) async throws {
    try await Bench.with(.inProcess) { bench in
      let reply = try await bench.call("POST", Self.regid, Self.wholes[index].0)
      #expect(reply.status == 400)
      #expect(reply.errorCode == Self.wholes[index].1, "\(reply.text)")
      let stranger = try await bench.call("POST", Self.regid, as: .nobody, Self.wholes[index].0)
      #expect(stranger.status == 401)
    }
  }

  @Test("a thousand entries are each accepted and sent once")
  func takesAThousand() async throws {
    try await Bench.with(.inProcess) { bench in
      _ = try await bench.device(1, alias: "lin")
      let body = Self.list((0..<1000).map { ("c\($0)", Self.entry("lin")) })
      let reply = try await bench.call("POST", Self.alias, body)
      let ids = reply.json.object?.members.compactMap { $0.value.object?["msg_id"]?.string } ?? []
      #expect(Set(ids).count == 1000)
      #expect(await bench.apns.received(1000).count == 1000)
    }
  }
}
