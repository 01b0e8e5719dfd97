import Basics
import PushPayload
import Testing

/// Texts from which random ones are made.
private let fixtures: [[UInt8]] =
  SeedPayload.all.map(\.bytes)
  + [
    #"{"aps":{"alert":{"title":"\ud83d\ude00","loc-key":"%@ %1$@","loc-args":["a"]},"sound":{"critical":1,"volume":0.5}}}"#,
    #"{"aps":{"timestamp":1700000000,"event":"start","content-state":{"a":[1,-2.5e3]},"attributes-type":"A","attributes":{}}}"#,
    #"{"Simulator Target Bundle":"a.b","aps":{"badge":1.0,"content_available":true},"n":9007199254740993}"#,
    #"[AnyHashable("aps"): {alert = "\U4f60"; list = (1, "2"); }, AnyHashable("k"): some text]"#,
    #"[null,true,false,[],{},"",0,-1,1e5,{"a":{"a":{"a":[[[1]]]}}}]"#,
  ].map { Array($0.utf8) }

private let fragments: [[UInt8]] =
  [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "e9", "-", ".", "0", "1e999", "null", "true",
    "aps", "\"aps\"", "alert", "\"badge\":", "=", ";", "(", ")", "//", "/*", "*/", "%@", "%1$", " ", "\n", "\r\n", "\t",
    "\u{0}", "你", "😀",
  ].map { Array($0.utf8) } + [[0xFF], [0xC0], [0xED, 0xA0, 0x80], [0xF4, 0x90], [0xEF, 0xBB, 0xBF]]

/// Between one and eight slips of the pen: bytes changed, dropped, doubled; pieces put in; the end cut off.
func mutated(_ dice: inout Dice) -> [UInt8] {
  var text = fixtures.randomElement(using: &dice) ?? []
  for _ in 0..<Int.random(in: 1...8, using: &dice) {
    let at = Int.random(in: 0...text.count, using: &dice)
    switch Int.random(in: 0..<6, using: &dice) {
    case 0 where at < text.count: text[at] = UInt8.random(in: 0...255, using: &dice)
    case 1 where at < text.count: text.remove(at: at)
    case 2 where at < text.count: text[at] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
    case 3:
      let end = min(text.count, at + Int.random(in: 0...20, using: &dice))
      text.insert(contentsOf: text[at..<end], at: Int.random(in: 0...text.count, using: &dice))
    case 4 where Int.random(in: 0..<4, using: &dice) == 0: text.removeSubrange(at...)
    default: text.insert(contentsOf: fragments.randomElement(using: &dice) ?? [], at: at)
    }
  }
  return text
}

@Suite("No text is too strange")
struct FuzzTests {
  @Test("reader, lint and phone take anything; what is read comes back the same", arguments: 0..<20 as Range<UInt64>)
  func survives(seed: UInt64) throws {
    var dice = Dice(seed: seed)
    for _ in 0..<400 {
      let text = mutated(&dice)
      let findings = Lint.check(text)
      for finding in findings {
        #expect(0...text.count ~= finding.offset && finding.line >= 1 && finding.column >= 1)
        #expect(SourcePlace(offset: finding.offset, in: text).line == finding.line)
      }
      _ = LintReport([.init(name: "x", text: text, findings: findings)]).listing(colour: false)
      if let document = try? JSONReader.read(text) {
        let written = document.value.encoded()
        #expect(written.count == document.value.encodedSize && written.count <= text.count)
        #expect(try JSONReader.read(written).value == document.value)
        let payload = Payload(document.value)
        #expect(payload.kind() == payload.kind(pushType: .alert))
        for ignored in payload.ignored where findings.count < 60 {
          #expect(
            findings.contains { $0.path == ignored.path && $0.severity == .error || $0.code == .notAnObject },
            "\(ignored.path) is ignored by the phone, so lint must say so: \(String(decoding: text, as: UTF8.self))")
        }
      } else {
        #expect(findings.count == 1 && findings[0].severity == .error)
      }
      var context = LintContext()
      context.form = .plist
      let report = LintReport([.init(name: "x", text: text, findings: Lint.check(text, context))])
      _ = report.listing(colour: true)
      #expect((try? JSONReader.read(report.json.encoded())) != nil)
    }
  }
}
