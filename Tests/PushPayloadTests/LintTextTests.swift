import Basics
import PushPayload
import Testing

@Suite("A text read once for grammar and lint")
struct LintTextTests {
  static let texts = [
    #"{"aps":{"alert":"a"}}"#, #"{"aps":{"alert":"a","alert":"b"},"badge":1}"#, #"{"Aps":{"alert":"a"}}"#, "[1]", "7",
    "", "{", #"{"aps":{"alert":"\uD800"}}"#, #"{"n":1e999}"#, #"{"aps":{"sound":1}}x"#,
  ]

  @Test("says what reading and linting it separately say", arguments: texts)
  func same(text: String) {
    let bytes = Array(text.utf8)
    var context = LintContext()
    context.headers = PushHeaders(topic: "com.example.app", pushType: "voip")
    context.headersAreComplete = true
    context.now = Instant(milliseconds: 0)
    let once = LintText(bytes)
    #expect(once.findings(context) == Lint.check(bytes, context))
    do {
      let value = try JSONReader.read(bytes).value
      #expect(once.fault == nil)
      #expect(once.isObject == (value.object != nil))
    } catch {
      #expect(once.fault == error)
      #expect(!once.isObject)
    }
  }
}
