import PushPayload

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// B6: lint and render of a payload of about 300 bytes, on one core. The peers only read and only write it, with what
/// Foundation offers to every Swift server.
func payloadBenchmark(_ setting: Setting) throws -> [Figure] {
  let span = setting.isQuick ? 0.2 : 1.0
  let text = Array(samplePayload.utf8)
  let decoder = JSONDecoder()
  let encoder = JSONEncoder()
  let data = Data(text)
  var model = try decoder.decode(PeerPayload.self, from: data)
  guard Lint.check(text).isEmpty, let template = try JSONReader.read(text).value.object else {
    throw BenchFault("b6: the sample must lint clean")
  }
  let renderer = PayloadRenderer(template)
  var buffer = [UInt8](repeating: 0, count: renderer.maximumSize)
  var lints = Pair()
  var renders = Pair()
  var messageID: Int64 = 200_000_000_000_000_000
  var sink = 0
  for _ in 0..<setting.runs {  // in turns, so that both meet the same weather
    lints.ours.append(ratePerCore(of: 500, for: span) { sink &+= Lint.check(text).count })
    lints.peer.append(
      ratePerCore(of: 100, for: span) { sink &+= (try? decoder.decode(PeerPayload.self, from: data)) == nil ? 1 : 0 })
    renders.ours.append(
      ratePerCore(of: 5000, for: span) {
        messageID += 1
        sink &+= buffer.withUnsafeMutableBytes { buffer in
          renderer.write(badge: messageID & 127, messageID: messageID, into: buffer) ?? 0
        }
      })
    renders.peer.append(
      ratePerCore(of: 100, for: span) {
        messageID += 1
        model.messageID = messageID
        model.aps.badge = Int(messageID & 127)
        sink &+= (try? encoder.encode(model).count) ?? 0
      })
  }
  guard sink != 0 else { throw BenchFault("b6: nothing was rendered") }
  let size = "\(text.count) bytes, one core"
  return [
    lints.figure("b6", "lint of \(size)", "lints/s", peer: "JSONDecoder, reading only", bar: .atLeast(200_000)),
    renders.figure("b6", "render of \(size)", "renders/s", peer: "JSONEncoder", bar: .atLeast(1_000_000)),
  ]
}

private let samplePayload =
  #"{"aps":{"alert":{"title":"重要提示","body":"Your parcel 4711 is on its way. 请及时查看最新活动信息。"},"badge":3,"sound":"default","thread-id":"orders","category":"ORDER","mutable-content":1},"customData":{"type":"promotion","id":"7890"},"url":"https://shop.example/4711","_j_msgid":200806057}"#

/// The sample as a Swift server would declare it.
private struct PeerPayload: Codable {
  var aps: Aps
  var customData: CustomData
  var url: String
  var messageID: Int64

  struct Aps: Codable {
    var alert: Alert
    var badge: Int
    var sound: String
    var threadID: String
    var category: String
    var mutableContent: Int

    enum CodingKeys: String, CodingKey {
      case alert, badge, sound
      case threadID = "thread-id"
      case category
      case mutableContent = "mutable-content"
    }
  }

  struct Alert: Codable {
    var title: String
    var body: String
  }

  struct CustomData: Codable {
    var type: String
    var id: String
  }

  enum CodingKeys: String, CodingKey {
    case aps, customData, url
    case messageID = "_j_msgid"
  }
}
