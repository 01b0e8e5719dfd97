import Basics
import PushPayload
import Testing

@Suite("A renderer writes what the encoder would")
struct PayloadRendererTests {
  static let templates: [JSONObject] = [
    [:],
    ["aps": [:]],
    ["aps": ["badge": 9]],
    ["_j_msgid": 1],
    ["_j_msgid": 1, "aps": ["badge": 2]],
    ["aps": ["badge": 1, "alert": "a"], "_j_msgid": 5, "k": [1, 2]],
    ["aps": ["alert": "a", "badge": 1, "sound": "default"], "k": .null],
    ["k": ["aps": ["badge": 7], "_j_msgid": 8], "aps": "no object"],
    JSONObject([.init("aps", ["badge": 1]), .init("aps", ["badge": 2, "alert": "你好"]), .init("_j_msgid", "x")]),
  ]

  @Test("byte for byte, with and without badge and id", arguments: templates)
  func sameAsEncoder(template: JSONObject) {
    let renderer = PayloadRenderer(template)
    let numbers: [Int64?] = [nil, 0, 1, -7, 42, 99_999, .max, .min]
    for badge in numbers {
      for id in numbers {
        let expected = renderer.rendered(badge: badge, messageID: id).encoded()
        var appended: [UInt8] = [1, 2]
        renderer.append(badge: badge, messageID: id, to: &appended)
        #expect(Array(appended.dropFirst(2)) == expected)
        #expect(renderer.size(badge: badge, messageID: id) == expected.count)
        #expect(expected.count <= renderer.maximumSize)
        var buffer = [UInt8](repeating: 0xAA, count: expected.count + 1)
        let written = buffer.withUnsafeMutableBytes { renderer.write(badge: badge, messageID: id, into: $0) }
        #expect(written == expected.count)
        #expect(buffer == expected + [0xAA], "nothing is written behind the end")
        let refused = buffer.withUnsafeMutableBytes {
          renderer.write(badge: badge, messageID: id, into: .init(rebasing: $0[..<(expected.count - 1)]))
        }
        #expect(refused == nil)
      }
    }
  }

  @Test("20,000 members are prepared without looking through all of them for each", .timeLimit(.minutes(1)))
  func linearInMembers() {
    let members = (0..<20_000).map { JSONObject.Member("k\($0)", 1) }
    let renderer = PayloadRenderer(JSONObject([.init("aps", ["badge": 1])] + members))
    let expected = renderer.rendered(badge: 7, messageID: 8).encoded().count
    #expect(renderer.size(badge: 7, messageID: 8) == expected)
  }
}
