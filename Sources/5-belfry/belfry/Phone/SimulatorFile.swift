import Basics
import PushPayload

/// A payload as Apple's Simulator takes it: JSON with `aps` at the top, at most 4,096 bytes, and optionally the key
/// "Simulator Target Bundle", which names the app and is not delivered. (Xcode 11.4 release notes; `simctl push`;
/// D-340, D-341)
struct SimulatorFile: Equatable, Sendable {
  static let bundleKey = "Simulator Target Bundle"
  static let limit = 4096

  /// What the key said; the caller's own word beats it.
  var bundleID: String?
  /// Without the key. Every other byte as it was, unless the key had to be cut out.
  var payload: [UInt8]
  var pushType: PushType

  init(_ bytes: [UInt8], named name: String) throws(CommandFault) {
    let document: JSONValue
    do throws(JSONFault) { document = try JSONReader.read(bytes).value } catch {
      throw CommandFault("\(name): it is not JSON: \(error)")
    }
    guard var object = document.object else {
      throw CommandFault("\(name): a payload is a JSON object, and this is none")
    }
    if let key = object[Self.bundleKey] {
      guard let bundle = key.string, !bundle.isEmpty else {
        throw CommandFault("\(name): \"\(Self.bundleKey)\" must be a bundle id such as \"com.example.app\"")
      }
      bundleID = bundle
      object[Self.bundleKey] = nil
      payload = JSONValue.object(object).encoded()
    } else {
      payload = bytes
    }
    guard object["aps"]?.object != nil else {
      throw CommandFault(
        "\(name): it has no \"aps\" object, which every push needs; {\"aps\": {\"alert\": \"Hello\"}} does")
    }
    guard payload.count <= Self.limit else {
      throw CommandFault("\(name): \(payload.count) bytes; APNs takes at most \(Self.limit)")
    }
    pushType = PushType.inferred(from: .object(object))
  }
}
