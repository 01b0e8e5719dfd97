import Basics
import Phone
import PushPayload

/// The last entries that tell of a push, of all phones of a lab.
struct PushMemory {
  private static let capacity = 8192
  private var entries: [LabEntry] = []
  /// Where the oldest stands once all places are taken.
  private var start = 0

  mutating func note(_ entry: LabEntry) {
    switch entry.entry.what {
    case .arrived, .shown, .withheld, .removed: break
    case .callback(let callback): guard callback.message != nil else { return }
    case .state, .badge, .summary, .activity, .user, .app, .fault, .system, .notModelled: return
    }
    if entries.count < Self.capacity {
      entries.append(entry)
    } else {
      entries[start] = entry
      start = (start + 1) % Self.capacity
    }
  }

  /// Oldest first. A phone that was away sees a push later, under the same ids.
  func entries(of pushID: String, message: Int64, request: String?) -> [LabEntry] {
    (entries[start...] + entries[..<start]).filter { entry in
      switch entry.entry.what {
      case .arrived(let id, _, _), .withheld(let id, _): id == pushID
      case .shown(let shown): shown.pushID == pushID
      case .removed(let ids, _): request.map(ids.contains) ?? false
      case .callback(let callback): callback.message == message
      case .state, .badge, .summary, .activity, .user, .app, .fault, .system, .notModelled: false
      }
    }
  }
}

extension Callback {
  /// The push service's number in what the app's code was given.
  fileprivate var message: Int64? { arguments.userInfo?["_j_msgid"]?.number?.int64 }
}
