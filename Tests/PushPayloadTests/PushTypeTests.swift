import PushPayload
import Testing

@Suite("apns.md §5: push types")
struct PushTypeTests {
  @Test(
    "a payload without a type is taken for what it is",
    arguments: [
      (#"{"aps":{"alert":"a"}}"#, PushType.alert),
      (#"{"aps":{"content-available":1}}"#, .background),
      (#"{"aps":{"content-available":1,"alert":""}}"#, .background),
      (#"{"aps":{"content-available":1,"category":"c"},"k":1}"#, .background),
      (#"{"aps":{"content-available":1,"badge":0}}"#, .alert),
      (#"{"aps":{"content-available":1,"sound":"default"}}"#, .alert),
      (#"{"aps":{"content-available":true}}"#, .alert),
      (#"{"aps":{"content-changed":true}}"#, .widgets),
      (#"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, .liveactivity),
      (#"{"mdm":"magic"}"#, .mdm),
      ("{}", .alert),
      ("[]", .alert),
    ])
  func inferred(text: String, type: PushType) throws {
    #expect(PushType.inferred(from: try JSONReader.read(Array(text.utf8)).value) == type)
  }
}
