import Testing

@testable import PushPayload

@Suite("A payload can be written as it was read")
struct PayloadWritingTests {
  static let texts =
    SeedPayload.all.filter { !$0.isPlist }.map(\.text) + LintCodeTests.cleanPayloads.map(\.0)
    + Cell.all.flatMap { cell in
      cell.good.map { cell.payload.replacing("•", with: $0) }
    }

  @Test("reading what was written gives the same payload", arguments: texts)
  func roundTrip(text: String) throws {
    let payload = Payload(try read(text).value)
    let again = Payload(payload.json)
    var expected = payload
    expected.userInfo = again.userInfo  // spelling may differ: 1.0 and 1
    #expect(again == expected)
    #expect(try JSONReader.read(payload.json.encoded()).value == payload.json)
  }
}
