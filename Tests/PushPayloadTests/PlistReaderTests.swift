import PushPayload
import Testing

@Suite("The notation of device logs")
struct PlistReaderTests {
  static let readable: [(String, JSONValue)] = [
    ("{}", [:]),
    ("{ a = 1; }", ["a": 1]),
    ("{ a = 1 }", ["a": 1]),
    ("{a=(1,\"2\",b);}", ["a": [1, "2", "b"]]),
    ("{a=();b={};}", ["a": [], "b": [:]]),
    ("{ a = \"<null>\"; }", ["a": .null]),
    (
      "{ a = 007; b = -1.5; c = 1.2.3; d = \"-\"; }",
      ["a": "007", "b": .number(JSONNumber(-1.5)!), "c": "1.2.3", "d": "-"]
    ),
    ("{ a = \"\\U4f60\\U597d\"; }", ["a": "你好"]),
    ("{ a = \"\\Ud83d\\Ude00 \\\"x\\\" \\\\ \\n\"; }", ["a": "😀 \"x\" \\ \n"]),
    (
      "/* log */ { // first\n \"content-available\" = 1; /* x */ url = http://a.b/c; }",
      [
        "content-available": 1, "url": "http://a.b/c",
      ]
    ),
    (
      "[AnyHashable(\"aps\"): {\n    alert = Hi;\n    badge = 2;\n}, AnyHashable(\"key1\"): some text, with a comma]",
      [
        "aps": ["alert": "Hi", "badge": 2], "key1": "some text, with a comma",
      ]
    ),
    (
      "[\"aps\": [\"alert\": \"Hi\", \"content-available\": 1, \"list\": [1, 2]], \"flag\": true]",
      [
        "aps": ["alert": "Hi", "content-available": 1, "list": [1, 2]], "flag": true,
      ]
    ),
    ("[:]", [:]),
    ("[]", []),
  ]

  @Test("is read", arguments: readable)
  func reads(text: String, value: JSONValue) throws {
    #expect(try PlistReader.read(Array(text.utf8)).value == value)
  }

  static let faulty: [(String, JSONFault.Code, Int, Int)] = [
    ("", .empty, 1, 1),
    ("{ a = 1;", .unexpectedEnd, 1, 9),
    ("{ a = 1; } x", .trailing, 1, 12),
    ("{ \"a\": 1 }", .unexpectedCharacter, 1, 6),
    ("{\n a = ;\n}", .unexpectedCharacter, 2, 6),
    ("{ a = \"x; }", .unexpectedEnd, 1, 12),
    ("{ a = \"\\Ud83d\"; }", .loneSurrogate, 1, 8),
    ("{ a = \"\\U12\"; }", .badEscape, 1, 8),
    ("/* never", .unexpectedEnd, 1, 1),
    (String(repeating: "(", count: 600), .tooDeep, 1, 513),
  ]

  @Test("tells where it cannot be read", arguments: faulty)
  func faults(text: String, code: JSONFault.Code, line: Int, column: Int) {
    #expect(
      performing: { try PlistReader.read(Array(text.utf8)) },
      throws: { error in
        let fault = error as? JSONFault
        return fault?.code == code && fault?.line == line && fault?.column == column
      })
  }
}
