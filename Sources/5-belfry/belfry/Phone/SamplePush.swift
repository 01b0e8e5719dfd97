import Phone
import PushPayload

/// A push of each kind that docs/iphone.md names, to try things with.
enum SamplePush: String, CaseIterable, Sendable {
  case k1 = "K1"
  case k2 = "K2"
  case k3 = "K3"
  case k4 = "K4"
  case k5 = "K5"
  case k6 = "K6"
  case k7 = "K7"

  var words: String {
    switch self {
    case .k1: "alert with badge and sound"
    case .k2: "alert and content-available"
    case .k3: "silent"
    case .k4: "badge only"
    case .k5: "sound only"
    case .k6: "VoIP"
    case .k7: "silent with custom keys"
    }
  }

  var push: PhonePush {
    let alert: JSONObject = ["title": "Belfry", "body": .string("Hello from \(rawValue)")]
    let payload: JSONValue =
      switch self {
      case .k1:
        ["aps": ["alert": .object(alert), "badge": 1, "sound": "default", "category": "MESSAGE"], "key1": "value1"]
      case .k2:
        ["aps": ["alert": .object(alert), "badge": 1, "sound": "default", "content-available": 1], "key1": "value1"]
      case .k3: ["aps": ["content-available": 1]]
      case .k4: ["aps": ["badge": 3]]
      case .k5: ["aps": ["sound": "default"]]
      case .k6: ["aps": [:], "caller": "Lin"]
      case .k7: ["aps": ["content-available": 1], "task": "sync"]
      }
    return PhonePush(
      source: .bytes(payload.encoded(), name: rawValue), pushType: self == .k6 ? .voip : nil)
  }
}
