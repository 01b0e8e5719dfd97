import PushPayload
import Testing

func read(_ text: String) throws(JSONFault) -> JSONDocument { try JSONReader.read(Array(text.utf8)) }

func refusal(of bytes: [UInt8], _ limits: JSONReader.Limits = JSONReader.Limits()) -> JSONFault? {
  do {
    _ = try JSONReader.read(bytes, limits: limits)
    return nil
  } catch {
    return error
  }
}

@Suite("The strict JSON reader (RFC 8259)")
struct JSONReaderTests {
  static let values: [(String, JSONValue)] = [
    ("null", .null), ("true", true), ("false", false), ("0", 0), ("-0", .number(JSONNumber(literal("-0")))),
    (" \t\r\n12 ", 12), ("\"\"", ""), ("[]", []), ("{}", [:]), ("[[],{}]", [[], [:]]),
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u4F60\u597d""#, "你好"), (#""\uD83D\uDE00""#, "😀"),
    ("\"\u{7F}\u{2028}\u{FFFF}\u{10FFFF}\"", "\u{7F}\u{2028}\u{FFFF}\u{10FFFF}"), (#""\u0000""#, "\u{0}"),
    (#"{"a":{"b":[1,{"c":null}]}}"#, ["a": ["b": [1, ["c": .null]]]]),
    (#"{"\u0061ps":1}"#, ["aps": 1]),
  ]

  static func literal(_ text: String) -> Int64 { Int64(text) ?? 0 }

  @Test("takes what is JSON", arguments: values)
  func reads(text: String, value: JSONValue) throws {
    let found = try read(text).value
    if text.contains("-0") {
      #expect(found.text == "-0", "digits stay as they were written")
    } else {
      #expect(found == value)
    }
  }

  @Test("finds a byte that ends or breaks a string wherever it stands")
  func everyByteAtEveryPlace() {
    for byte in UInt8.min...0x7F {
      for place in 0..<20 {
        var text = Array("\"\(String(repeating: "x", count: 20))\"".utf8)
        text[1 + place] = byte
        let isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        #expect((refusal(of: text) == nil) == isPlain, "byte \(byte) at \(place)")
      }
    }
  }

  static let numberTexts = [
    "0", "-1", "0.5", "-0.0", "1e5", "1E+5", "1e-5", "10.25e-3", "9007199254740993", "1.10", "1.7976931348623157e308",
    "1e-400", "123456789012345678901234567890", String(repeating: "1", count: 309),
  ]

  @Test("keeps numbers in their digits", arguments: numberTexts)
  func numbers(text: String) throws { #expect(try read("[\(text)]").value.text == "[\(text)]") }

  static let refusals: [(String, JSONFault.Code, Int, Int)] = [
    ("", .empty, 1, 1), (" \n ", .empty, 1, 1),
    ("{", .unexpectedEnd, 1, 2), ("[1,", .unexpectedEnd, 1, 4), ("{\"a\"", .unexpectedEnd, 1, 5),
    ("{\"a\":", .unexpectedEnd, 1, 6), ("\"abc", .unexpectedEnd, 1, 5), ("\"a\\", .unexpectedEnd, 1, 3),
    ("[1,]", .trailingComma, 1, 4), ("{\"a\":1,}", .trailingComma, 1, 8), ("[,1]", .unexpectedCharacter, 1, 2),
    ("{,}", .unexpectedCharacter, 1, 2), ("[1 2]", .unexpectedCharacter, 1, 4),
    ("{\"a\" 1}", .unexpectedCharacter, 1, 6),
    ("{a:1}", .unexpectedCharacter, 1, 2), ("{'a':1}", .unexpectedCharacter, 1, 2),
    ("{1:2}", .unexpectedCharacter, 1, 2),
    ("[1}", .unexpectedCharacter, 1, 3), ("{\"a\":1]", .unexpectedCharacter, 1, 7), ("]", .unexpectedCharacter, 1, 1),
    ("True", .unexpectedCharacter, 1, 1), ("nul", .unexpectedCharacter, 1, 1), ("nulll", .trailing, 1, 5),
    ("[NaN]", .unexpectedCharacter, 1, 2), ("[-Infinity]", .badNumber, 1, 3), ("[+1]", .unexpectedCharacter, 1, 2),
    ("[01]", .badNumber, 1, 2), ("[-01]", .badNumber, 1, 3), ("[1.]", .badNumber, 1, 4),
    ("[.5]", .unexpectedCharacter, 1, 2),
    ("[1e]", .badNumber, 1, 4), ("[-]", .badNumber, 1, 3), ("[1e999]", .numberTooLarge, 1, 2),
    ("[-1e400]", .numberTooLarge, 1, 2), ("[\(String(repeating: "9", count: 310))]", .numberTooLarge, 1, 2),
    ("{} x", .trailing, 1, 4), ("{}{}", .trailing, 1, 3), ("1 2", .trailing, 1, 3), ("{}\u{0}", .trailing, 1, 3),
    ("// c\n{}", .comment, 1, 1), ("{/* c */}", .comment, 1, 2), ("{} // c", .trailing, 1, 4),
    ("\"a\nb\"", .controlCharacter, 1, 3), ("\"\t\"", .controlCharacter, 1, 2), ("\"a\u{0}\"", .controlCharacter, 1, 3),
    (#""\x41""#, .badEscape, 1, 2), (#""\u12""#, .badEscape, 1, 2), (#""\u12G4""#, .badEscape, 1, 2),
    (#""\U0041""#, .badEscape, 1, 2),
    (#""\ud83d""#, .loneSurrogate, 1, 2), (#""\ud83dx""#, .loneSurrogate, 1, 2), (#""\ude00""#, .loneSurrogate, 1, 2),
    (#""\ud83d\ud83d""#, .loneSurrogate, 1, 2), (#""\ud83d\u0041""#, .loneSurrogate, 1, 2),
    ("{\n  \"a\": \"你\",\n  \"b\": }", .unexpectedCharacter, 3, 8),
    ("{\r\n\"😀\": x}", .unexpectedCharacter, 2, 6), ("[\r\r1 x]", .unexpectedCharacter, 3, 3),
    ("{aps={alert=x;};}", .unexpectedCharacter, 1, 2), ("{\u{201C}a\u{201D}:1}", .unexpectedCharacter, 1, 2),
  ]

  @Test("refuses what is not, and tells where", arguments: refusals)
  func refuses(text: String, code: JSONFault.Code, line: Int, column: Int) throws {
    let fault = try #require(refusal(of: Array(text.utf8)))
    #expect((fault.code, fault.line, fault.column) == (code, line, column))
    #expect(fault.offset <= text.utf8.count && fault.remedy.hasSuffix(".") && !fault.found.isEmpty)
  }

  static let bytes: [([UInt8], JSONFault.Code, Int)] = [
    ([0xEF, 0xBB, 0xBF, 0x7B, 0x7D], .byteOrderMark, 0), ([0xFF, 0xFE, 0x7B, 0], .notUTF8, 0),
    ([0x7B, 0, 0x7D, 0], .notUTF8, 0), ([0, 0x7B, 0, 0x7D], .notUTF8, 0),
    ([0x22, 0xFF, 0x22], .notUTF8, 1), ([0x22, 0xC0, 0x80, 0x22], .notUTF8, 1),
    ([0x22, 0xC1, 0xBF, 0x22], .notUTF8, 1),
    ([0x22, 0xE0, 0x80, 0x80, 0x22], .notUTF8, 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], .notUTF8, 1),
    ([0x22, 0xF0, 0x80, 0x80, 0x80, 0x22], .notUTF8, 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .notUTF8, 1),
    ([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], .notUTF8, 1), ([0x22, 0xE4, 0xBD, 0x22], .notUTF8, 1),
    ([0x22, 0x61, 0xE4, 0xBD], .notUTF8, 2), ([0x22, 0x80, 0x22], .notUTF8, 1), ([0x5B, 0xE4, 0x5D], .notUTF8, 1),
  ]

  @Test("refuses bytes that are not UTF-8", arguments: bytes)
  func refusesBytes(bytes: [UInt8], code: JSONFault.Code, offset: Int) throws {
    let fault = try #require(refusal(of: bytes))
    #expect((fault.code, fault.offset) == (code, offset))
  }

  @Test("depth bombs stop at the limit, and the fault tells it")
  func depth() throws {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let deep = String(repeating: open, count: 511) + "[]" + String(repeating: close, count: 511)
      #expect(try read(deep).value.text == deep)
      let bomb = try #require(refusal(of: Array(String(repeating: open, count: 100_000).utf8)))
      #expect(bomb.code == .tooDeep && bomb.found.contains("512"))
    }
    #expect(refusal(of: Array("[[[1]]]".utf8), JSONReader.Limits(depth: 2))?.offset == 2)
    #expect(refusal(of: Array("[1,2]".utf8), JSONReader.Limits(bytes: 4))?.code == .tooLong)
  }

  @Test("duplicate keys are kept and told; the last counts")
  func duplicates() throws {
    let document = try read(#"{"a":1,"aps":{"badge":1,"\u0062adge":2},"a":3,"l":[{"x":1,"x":2}],"a":{"q":1,"q":1}}"#)
    #expect(document.duplicateKeys.map(\.description) == ["aps.badge", "a", "l[0].x", "a", "a.q"])
    #expect(document.value.object?["aps"]?.object?["badge"] == 2)
    #expect(document.value.object?.members.count == 5)
    #expect(document.place(of: JSONPath("aps", "badge"))?.offset == 37)
    let many = "{" + (0..<5000).map { "\"k\($0 % 4999)\":\($0)" }.joined(separator: ",") + "}"
    #expect(try read(many).duplicateKeys.map(\.description) == ["k0"])
    #expect(
      try read("{\"\u{e9}\":1,\"e\u{301}\":2}").duplicateKeys.isEmpty,
      "keys are the same when their bytes are, as for iOS; Swift's strings would say otherwise")
  }

  @Test("a hundred thousand duplicate keys are told in linear time")
  func manyDuplicates() throws {
    let text = "{" + Array(repeating: "\"a\":1", count: 100_000).joined(separator: ",") + "}"
    #expect(try read(text).duplicateKeys.count == 99_999)
    #expect(Lint.check(Array(text.utf8)).count { $0.code == .duplicateKey } == 99_999)
  }

  @Test("every value's place can be asked for")
  func places() throws {
    let document = try read("{\n  \"aps\": {\"alert\": {\n    \"loc-args\": [\"你\", \"b\"]}},\r\n  \"x y\": 1\n}")
    func place(_ path: JSONPath) -> [Int]? { document.place(of: path).map { [$0.line, $0.column] } }
    #expect(place(.root) == [1, 1])
    #expect(place(JSONPath("aps")) == [2, 10])
    #expect(place(JSONPath("aps", "alert", "loc-args").appending(1)) == [3, 23])
    #expect(place(JSONPath("x y")) == [4, 10])
    #expect(document.keyPlace(of: JSONPath("x y")).map { [$0.line, $0.column] } == [4, 3])
    #expect(place(JSONPath("nope")) == nil && place(JSONPath("aps").appending(0)) == nil)
    #expect(place(JSONPath("aps", "alert", "loc-args").appending(2)) == nil)
    #expect(place(JSONPath("aps", "alert", "loc-args").appending(-1)) == nil)
  }

  @Test(
    "a path reads as people write it",
    arguments: [
      (JSONPath.root, "$"), (JSONPath("aps", "alert", "loc-args").appending(0), "aps.alert.loc-args[0]"),
      (JSONPath("Simulator Target Bundle"), #"["Simulator Target Bundle"]"#), (JSONPath("a").appending(""), #"a[""]"#),
      (JSONPath.root.appending(1).appending("b"), "[1].b"), (JSONPath("a.b", "c\"d"), #"["a.b"]["c\"d"]"#),
    ])
  func paths(path: JSONPath, text: String) { #expect(path.description == text) }
}

@Suite("The encoder")
struct JSONWriterTests {
  @Test("C45 values come through unchanged, in the shortest UTF-8")
  func fidelity() throws {
    let text =
      #"{"c":"aa+bb/cc==","n":9007199254740993,"f":1.10,"e":"👨‍👩‍👧‍👦 ’ \u2028","z":null,"o":{"b":1,"a":2}}"#
    let value = try read(text).value
    #expect(value.text == text.replacing(#"\u2028"#, with: "\u{2028}"))
    #expect(value.object?["n"]?.number?.int64 == 9_007_199_254_740_993)
    #expect(value.object?["z"] == .null)
    #expect(value.object?["o"]?.object?.members.map(\.key) == ["b", "a"])
    let long = String(repeating: "漢", count: 300)
    #expect(JSONValue.string(long).encoded().count == 902)
    let notified = Payload(["aps": ["alert": "a"], "extras": value])
    #expect(notified.custom["extras"]?.text == value.text)
    let rendered = PayloadRenderer(notified.userInfo).rendered(badge: 1, messageID: 2)
    #expect(rendered.object?["extras"] == value)
  }

  @Test(
    "escapes only what must be",
    arguments: [
      ("/é你😀\u{7F}\u{2028}", "\"/é你😀\u{7F}\u{2028}\""), ("\"\\\n\r\t\u{8}\u{C}", #""\"\\\n\r\t\b\f""#),
      ("\u{0}\u{1F}", #""\u0000\u001f""#),
    ])
  func escapes(text: String, written: String) {
    #expect(JSONValue.string(text).text == written)
    #expect(JSONValue.string(text).encodedSize == written.utf8.count)
  }

  @Test("numbers that JSON cannot say are not made")
  func numbers() {
    #expect(JSONNumber(Double.nan) == nil && JSONNumber(Double.infinity) == nil)
    #expect(JSONNumber(0.1)?.literal == "0.1" && JSONNumber(Int64.min).literal == "-9223372036854775808")
  }
}
