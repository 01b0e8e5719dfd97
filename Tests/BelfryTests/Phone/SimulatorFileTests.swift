import PushPayload
import Testing

@testable import belfry

@Suite("Payload files of Apple's Simulator")
struct SimulatorFileTests {
  private func read(_ text: String) throws(CommandFault) -> SimulatorFile {
    try SimulatorFile(Array(text.utf8), named: "push.apns")
  }

  @Test("D-340 the key names the app and is taken out; without it every byte stays")
  func key() throws {
    let file = try read(#"{"Simulator Target Bundle": "com.example.app", "aps": {"alert": "Hi"}, "n": 1.50}"#)
    #expect(file.bundleID == "com.example.app")
    #expect(String(decoding: file.payload, as: UTF8.self) == #"{"aps":{"alert":"Hi"},"n":1.50}"#)
    let plain = #"{ "aps": { "content-available": 1 } }"#
    #expect(try read(plain) == SimulatorFile(Array(plain.utf8), named: "x"))
    #expect(try read(plain).payload == Array(plain.utf8))
    #expect(try read(plain).pushType == .background && read(plain).bundleID == nil)
  }

  static let faults: [(String, String)] = [
    ("{", "it is not JSON"), ("[]", "a payload is a JSON object"), ("{}", #"it has no "aps" object"#),
    (#"{"aps": 1}"#, #"it has no "aps" object"#),
    (#"{"aps": {}, "Simulator Target Bundle": 7}"#, "must be a bundle id"),
  ]

  @Test("D-341 refused: no JSON, no object, no aps", arguments: faults)
  func refused(text: String, words: String) {
    #expect { try read(text) } throws: { "\($0)".hasPrefix("push.apns: ") && "\($0)".contains(words) }
  }

  @Test("D-341 4096 bytes go, one more is refused; the Simulator's key does not count")
  func size() throws {
    func text(_ count: Int) -> String {
      let frame = #"{"aps":{"alert":""}}"#.utf8.count
      return #"{"aps":{"alert":""# + String(repeating: "x", count: count - frame) + #""}}"#
    }
    #expect(try read(text(4096)).payload.count == 4096)
    #expect { try read(text(4097)) } throws: { "\($0)" == "push.apns: 4097 bytes; APNs takes at most 4096" }
    let keyed = #"{"Simulator Target Bundle":"com.example.app","# + text(4096).dropFirst()
    #expect(try read(keyed).payload.count == 4096)
  }
}
