import Basics
import PushPayload

/// The Live Activities of one app, as the phone keeps them beyond its process.
struct ActivityShelf: Sendable {
  /// In the order of their start; what is dismissed is gone.
  var kept: [KeptActivity] = []
  /// One of each attributes type that the app's code observes, from its first launch on.
  var startTokens: [StartToken] = []
  var budget = LiveActivityBudget()
  /// Ids by the names that the app's code has for them.
  var channels: [String: String] = [:]
  private var started = 0

  struct StartToken: Sendable {
    let attributesType: String
    /// nil until APNs has given it.
    var token: [UInt8]?
    var isUntold = false
    var isHanded = false
  }

  func index(of id: String) -> Int? { kept.firstIndex { $0.id == id } }

  /// The newest that can still change; nil: there is none.
  var newestActive: String? { kept.last { $0.isActive }?.id }

  var activeCount: Int { kept.count { $0.isActive } }

  /// When time alone changes one of them.
  func nextDue(_ rules: LiveActivity.Rules) -> Instant? {
    kept.isEmpty ? nil : kept.lazy.compactMap { $0.activity.nextDue(rules) }.min()
  }

  /// Puts a new one on the shelf; answers its id. ActivityKit's are UUIDs, these are counted.
  mutating func keep(_ activity: LiveActivity, wantsToken: Bool) -> String {
    started += 1
    let id = "\(activity.attributesType)-\(started)"
    kept.append(KeptActivity(id: id, activity: activity, wantsToken: wantsToken))
    return id
  }
}

/// A Live Activity from its start until it leaves the Lock Screen.
struct KeptActivity: Sendable {
  let id: String
  var activity: LiveActivity
  /// It is reached by an update token of its own.
  let wantsToken: Bool
  var token: [UInt8]?
  var isTokenHanded = false
  /// What ActivityKit's sequences have for the app's code, which did not run meanwhile.
  var untold: News = []

  struct News: OptionSet, Sendable {
    let rawValue: UInt8
    /// `activityUpdates`: it is there.
    static let itself = Self(rawValue: 1)
    static let token = Self(rawValue: 2)
    static let content = Self(rawValue: 4)
    static let state = Self(rawValue: 8)
  }

  init(id: String, activity: LiveActivity, wantsToken: Bool) {
    self.id = id
    self.activity = activity
    self.wantsToken = wantsToken
  }

  var isActive: Bool {
    switch activity.state {
    case .active: true
    case .ended, .dismissed: false
    }
  }

  func state(at now: Instant) -> ActivityState {
    switch activity.state {
    case .active: activity.isStale(at: now) ? .stale : .active
    case .ended: .ended
    case .dismissed: .dismissed
    }
  }
}
