import Basics
import BelfryTesting
import Foundation
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

@Suite("Faults by the control API")
struct FaultControlTests {
  @Test("rules are added, replaced by id, replaced in whole, ended one by one and all, and counted")
  func rules() async throws {
    try await FaultScene.run { scene in
      let live = scene.live
      func ids() async throws -> [String?] {
        try await live.control("GET", "/faults")["faults"]?.array?.map { $0.object?["id"]?.string } ?? []
      }
      #expect(try await ids() == [])
      let one = #"{"id":"gone","limit":1,"action":{"refuse":"Unregistered"}}"#
      #expect(try await live.control("POST", "/faults", one).status == 201)
      #expect(
        try await live.control("POST", "/faults", #"[{"action":{"delay":"0s"}},{"action":{"delay":"0s"}}]"#).status
          == 201)
      #expect(try await ids() == ["gone", "fault-1", "fault-2"])
      #expect(try await live.control("POST", "/faults", #"{"action":{"split":true}}"#).status == 201)
      #expect(try await live.control("POST", "/faults", one).status == 201)
      #expect(try await ids() == ["fault-1", "fault-2", "fault-3", "gone"])
      #expect(try await live.control("PUT", "/faults", "{\"faults\":[\(one)]}").status == 200)
      #expect(try await ids() == ["gone"])
      let id = "123e4567-e89b-12d3-a456-4266554400a0"
      #expect(await scene.send(id: id)?.status == 410)
      #expect(await scene.send()?.status == 200)
      let told = try await live.control("GET", "/faults")
      #expect(told["seed"] == 1)
      #expect(told["faults", "0", "matched"] == 2 && told["faults", "0", "applied"] == 1)
      #expect(told["faults", "0", "lastApplied"]?.string == "\(scene.clock.now)")
      #expect(told["applied", "0", "rule"] == "gone" && told["applied", "0", "id"]?.string == id)
      #expect(told["applied", "0", "token"]?.string == scene.token && told["applied", "0", "connection"] == 1)
      #expect(told["applied", "0", "what"] == "answered 410 Unregistered" && told["last"] == 1)
      #expect(try await live.control("GET", "/faults?since=1")["applied"] == [])
      let why = try await live.control("GET", "/refusals")["refusals", "0", "why"]
      #expect(why == "fault \"gone\": answered 410 Unregistered")
      #expect(try await live.control("DELETE", "/faults/gone").status == 204)
      #expect(try await live.control("DELETE", "/faults/gone").status == 404)
      #expect(try await live.control("POST", "/faults", one).status == 201)
      #expect(try await live.control("DELETE", "/faults").status == 204)
      #expect(try await ids() == [])
      #expect(await scene.send()?.status == 200)
      await scene.close()
    }
  }

  @Test(
    "a wrong request is told its place and the way out",
    arguments: [
      ("POST", "/faults", "{", 400, nil), ("POST", "/faults", #"[{"action":{"dealy":"1s"}}]"#, 400, "[0].action.dealy"),
      ("PUT", "/faults", #"{"faults":[{"action":{"delay":2}}]}"#, 400, "faults[0].action.delay"),
      ("PATCH", "/faults", "", 405, "method"), ("GET", "/faults/x", nil, 405, "method"),
      ("GET", "/faults?sinse=1", nil, 400, "sinse"), ("GET", "/faults/x/y", nil, 404, "/faults/x/y"),
      ("POST", "/faults/reload", "", 409, "reload"),
    ] as [(String, String, String?, Int, String?)])
  func wrong(method: String, path: String, body: String?, status: Int, place: String?) async throws {
    try await LiveScene.run { scene in
      let answer = try await scene.control(method, path, body)
      #expect(answer.status == status)
      if let place { #expect(answer["error", "place"]?.string == place) }
      #expect(answer["error", "remedy"]?.string?.isEmpty == false)
    }
  }

  @Test("reading the file again puts its rules in force; a mistake in it leaves the former")
  func reload() async throws {
    let text = Locked(#"{"id":"first","action":{"delay":"0s"}}"#)
    try await LiveScene.run { configuration in
      configuration.faults.reload = { try FaultReadingTests.read(text.withLock { $0 }) }
    } _: { scene in
      #expect(try await scene.control("POST", "/faults/reload")["faults", "0", "id"] == "first")
      text.withLock { $0 = #"{"id":"second","action":{"delay":0}}"# }
      let answer = try await scene.control("POST", "/faults/reload")
      #expect(answer.status == 400)
      #expect(answer["error", "found"]?.string?.hasPrefix("action.delay: found 0") == true)
      #expect(try await scene.control("GET", "/faults")["faults", "0", "id"] == "first")
    }
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test("the schema for editors knows the fields that the reader knows, and no others")
  func schema() throws {
    let bytes = try Data(contentsOf: Self.root.appending(path: "docs/faults.schema.json"))
    let schema = try JSONReader.read([UInt8](bytes)).value
    func at(_ path: String...) -> JSONValue? {
      path.reduce(schema as JSONValue?) { value, step in value?.object?[step] }
    }
    func names(_ value: JSONValue?) -> [String]? { value?.object?.members.map(\.key).sorted() }
    #expect(names(at("$defs", "rule", "properties")) == FaultRule.fields.sorted())
    #expect(names(at("$defs", "when", "properties")) == FaultRule.Conditions.fields.sorted())
    let action = FaultAction.kinds + ["status", "timestamp", "for"] + FaultAction.answerFields
    #expect(names(at("$defs", "action", "properties")) == action.sorted())
    let goAway = at("$defs", "action", "properties", "goAway", "oneOf")?.array?.last?.object?["properties"]
    #expect(names(goAway) == FaultAction.GoAway.fields.sorted())
    let types = at("$defs", "when", "properties", "pushType", "oneOf")?.array?.first?.object?["enum"]?.array
    #expect(types?.compactMap(\.string).sorted() == PushType.allCases.map(\.rawValue).sorted())
    let reasons = at("$defs", "action", "properties", "refuse", "examples")?.array?.compactMap(\.string)
    #expect(reasons?.allSatisfy { RefusalReason(rawValue: $0) != nil } == true)
  }
}
