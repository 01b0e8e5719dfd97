import PushPayload
import Testing

@Suite("The seeds' payloads")
struct SeedTests {
  @Test("lint clean, or with the finding that their text implies", arguments: SeedPayload.all)
  func lint(seed: SeedPayload) {
    var context = LintContext()
    context.form = seed.isPlist ? .plist : .json
    #expect(Lint.check(seed.bytes, context).map(\.code) == seed.codes)
  }

  @Test("are read whole, and are of the kind their text says (device.md A)", arguments: SeedPayload.all)
  func kind(seed: SeedPayload) throws {
    let document = seed.isPlist ? try PlistReader.read(seed.bytes) : try JSONReader.read(seed.bytes)
    let payload = Payload(document.value)
    #expect(payload.kind() == seed.kind)
    #expect(payload.ignored.isEmpty)
    #expect(try JSONReader.read(document.value.encoded()).value == document.value)
  }

  @Test("S0's ordinary push in the notation of logs is the JSON it stands for (D-076)")
  func notation() throws {
    let document = try PlistReader.read(SeedPayload.all[0].bytes)
    #expect(
      document.value == [
        "_j_msgid": 200_806_057, "aps": ["alert": "显示内容", "badge": 1, "sound": "default"], "key1": "value1",
        "key2": "value2",
      ])
    #expect(document.place(of: ["_j_msgid"].path)?.line == 2)
    #expect(document.place(of: JSONPath("aps", "badge")).map { [$0.line, $0.column] } == [5, 7])
    #expect(document.keyPlace(of: JSONPath("key2")).map { [$0.line, $0.column] } == [9, 1])
  }

  @Test("S0's silent push: the finding stands at the empty alert, which the phone takes for none (D-081)")
  func silentPush() throws {
    var context = LintContext()
    context.form = .plist
    let finding = try #require(Lint.check(SeedPayload.all[2].bytes, context).first)
    #expect(finding.path.description == "aps.alert")
    #expect((finding.line, finding.column, finding.length) == (4, 7, 2))
    #expect(finding.severity == .warning)
    #expect(try Payload(PlistReader.read(SeedPayload.all[2].bytes).value).appearance.isNothing)
  }
}

extension [String] {
  fileprivate var path: JSONPath { JSONPath(map(JSONPath.Step.key)) }
}
