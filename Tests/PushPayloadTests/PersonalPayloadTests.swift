import PushPayload
import Testing

@Suite("Texts that differ by recipient")
struct PersonalPayloadTests {
  @Test(
    "places are filled by value or default",
    arguments: [
      ("Hello {{name|there}}", ["name": "Lin"], "Hello Lin"),
      ("Hello {{name|there}}", [:], "Hello there"),
      ("{{ name }}!", ["name": "林"], "林!"),
      ("{{a|}}{{b|x|y}}", [:], "x|y"),
      ("{{name|there}}", ["name": ""], ""),
      ("no places, } and { alone, }}", [:], "no places, } and { alone, }}"),
      ("{{{{name}} costs {{price|5}}", [:], "{{name}} costs 5"),
      ("{{name|{{{x}}", ["name": "{{other}}"], "{{other}}"),
    ] as [(String, [String: String], String)])
  func filling(text: String, values: [String: String], expected: String) throws {
    #expect(try TextTemplate(text).filled { values[$0] } == expected)
  }

  @Test(
    "what is no template is told",
    arguments: [
      ("Hello {{name", TemplateFault.unclosed("name")), ("{{}}", .noName("")), ("{{ |x}}", .noName(" |x")),
      ("{{first name}}", .noName("first name")), ("{{a}} {{ä}}", .noName("ä")),
    ] as [(String, TemplateFault)])
  func faults(text: String, fault: TemplateFault) {
    #expect(throws: fault) { try TextTemplate(text) }
  }

  private static let payload: JSONObject = [
    "aps": ["alert": ["title": "News", "body": "Hello {{name|there}}", "title-loc-key": "NEWS"], "badge": 1],
    "links": [["url": "app://orders/{{order|0}}"]],
  ]

  @Test(
    "a device gets the texts of its language, or the nearest that there are",
    arguments: [
      ("de-AT", "Hallo Lin"), ("zh-Hans-CN", "你好 Lin"), ("zh-Hant-TW", "您好 Lin"), ("zh_CN", "你好 Lin"),
      ("pt-BR", "Hello Lin"), ("zh", "Hello Lin"), (nil, "Hello Lin"), ("", "Hello Lin"), ("DE", "Hallo Lin"),
    ] as [(String?, String)])
  func languages(language: String?, body: String) throws {
    let personal = try PersonalPayload(
      Self.payload,
      languages: [
        "de": .init(body: "Hallo {{name|du}}"), "zh-CN": .init(title: "新闻", body: "你好 {{name|}}"),
        "zh-Hant": .init(body: "您好 {{name|}}"),
      ], hasPlaces: true)
    let payload = personal.payload(personal.variant(for: language)) { ["name": "Lin", "order": "7"][$0] }
    let alert = payload["aps"]?.object?["alert"]?.object
    #expect(alert?["body"]?.string == body)
    // texts said in a language win over the app's own strings
    #expect((alert?["title-loc-key"] == nil) == (alert?["title"] == "新闻"))
    #expect(payload["links"] == [["url": "app://orders/7"]])
  }

  @Test("recipients of a variant without places get one payload; without places asked for, braces are text")
  func fixed() throws {
    let texts = ["de": PersonalPayload.Texts(body: "Hallo")]
    let personal = try PersonalPayload(["aps": ["alert": "Hello {{name|}}"]], languages: texts, hasPlaces: true)
    #expect(!personal.isFixed(personal.variant(for: "en")))
    #expect(personal.isFixed(personal.variant(for: "de")))
    #expect(personal.places == [.init(name: "name", fallback: "")])
    let plain = try PersonalPayload(["aps": ["alert": "Hello {{name"]], hasPlaces: false)
    #expect(plain.payload(plain.variant(for: nil)) { _ in "x" } == ["aps": ["alert": "Hello {{name"]])
  }

  @Test("a template that cannot be read is told with its place")
  func place() {
    #expect(throws: PersonalPayloadFault(path: JSONPath([.key("a"), .index(1)]), fault: .unclosed("x"))) {
      try PersonalPayload(["a": ["", "{{x"]], hasPlaces: true)
    }
  }

  @Test(
    "C10 a text is shortened on request, and never within a character",
    arguments: [
      ("Hello", 5, "Hello"), ("Hello", 4, "H…"), ("Hello", 3, ""), ("你好世界", 9, "你好…"), ("ab\"\"", 5, "ab…"),
      ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 30, "👨‍👩‍👧‍👦…"), ("👨‍👩‍👧‍👦", 24, ""), ("e\u{301}e\u{301}e\u{301}", 8, "e\u{301}…"),
      ("🇩🇪🇨🇳", 12, "🇩🇪…"),
    ])
  func shortening(body: String, room: Int, expected: String) throws {
    for alert: (String) -> JSONValue in [{ .string($0) }, { ["title": "T", "body": .string($0)] }] {
      let empty = JSONValue.object(["aps": ["alert": alert("")], "x": 1]).encoded().count
      let whole: JSONObject = ["aps": ["alert": alert(body)], "x": 1]
      let short = whole.shortened(to: empty + room)
      #expect(short?["aps"]?.object?["alert"] == alert(expected))
    }
  }

  @Test("C10 the body goes first, then the subtitle, then the title; what is too large without them stays so")
  func order() {
    func payload(_ title: String, _ subtitle: String, _ body: String) -> JSONObject {
      ["aps": ["alert": ["title": .string(title), "subtitle": .string(subtitle), "body": .string(body)]]]
    }
    let whole = payload("TTTTTTTT", "SSSSSSSS", "BBBBBBBB")
    let empty = JSONValue.object(payload("", "", "")).encoded().count
    #expect(whole.shortened(to: empty + 24) == whole)
    #expect(whole.shortened(to: empty + 21) == payload("TTTTTTTT", "SSSSSSSS", "BB…"))
    #expect(whole.shortened(to: empty + 14) == payload("TTTTTTTT", "SSS…", ""))
    #expect(whole.shortened(to: empty + 5) == payload("TT…", "", ""))
    #expect(whole.shortened(to: empty) == payload("", "", ""))
    #expect(whole.shortened(to: empty - 1) == nil)
    #expect((["aps": ["content-available": 1], "x": "long"] as JSONObject).shortened(to: 10) == nil)
  }
}
