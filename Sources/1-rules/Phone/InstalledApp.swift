import Basics

/// What the phone keeps of one app.
struct InstalledApp: Sendable {
  private var traits: Traits
  var state = AppState.notRunning
  /// This run's delegate of the notification centre is in place (D-004).
  var delegateSet = false
  var permission = Permission()
  /// As last registered; they outlive the process (D-242).
  var categories: [NotificationCategory] = []
  var registration = Registration()
  var pushKit = PushKitRegistration()
  var badge = 0
  /// Oldest first; on the lock screen, on the screen, or in the centre.
  var entries: [CentreEntry] = []
  /// What waits, unseen, for the scheduled summary, oldest first (D-265).
  var collected: [CentreEntry] = []
  var timeSensitiveQuestion = TimeSensitiveQuestion.notAsked
  /// Handlers that the app's code has been given and not called.
  var awaited: [AwaitedAnswer] = []
  /// What its service extension, a process of its own, works on (D-250).
  var serviceRuns: [ServiceRun] = []
  /// When an app that was left is suspended (D-157).
  var suspendAt: Instant?
  /// It runs `didEnterBackground`; what follows is its suspension, or its end if it takes too long (D-157).
  var isLeaving = false
  var budget = WakeBudget()
  /// Local notifications that wait; they outlive the process (D-280).
  var local = LocalSchedule()
  var activities = ActivityShelf()
  var messages = MessageBox()
  var preference = SchedulePreference()
  /// The one background push that waits for a better moment (D-177).
  var held: HeldPush?
  /// iOS 3: pushes that came while the phone was locked over this app in front (D-062).
  var waitingForUnlock: [Notice] = []
  /// It was on the screen when the phone was locked (D-115).
  var wasFrontAtLock = false
  /// Its windows, the one used last at the end (D-137); without scenes none.
  var scenes: [Scene] = []
  var lastScene = 0
  /// Windows that were closed, and its code has not been told.
  var discardedScenes: [SceneID] = []
  /// Since when it is behind, or was before it was suspended.
  var backgroundSince: Instant?
  var backgroundTasks: [BackgroundTask] = []
  var lastTask = 0
  /// The task whose expiration handler runs.
  var expiringTask: Int?
  /// A process waits for its launch (D-165).
  var isPrepared = false
  /// Only icon and data are here (D-045).
  var isOffloaded = false
  /// What its code has read or been told in this run (D-181).
  var toldRefreshStatus: RefreshStatus?
  /// When a newsstand app was last due a wake (D-188).
  var newsstandAt: Instant?
  /// What its UI shows, and what the picture in the app switcher shows of it, by the app's own names (D-183).
  var page: String?
  var snapshotPage: String?

  init(_ description: AppDescription) {
    traits = Traits(description)
  }

  /// What seldom changes, shared by all copies of a phone.
  private final class Traits: Sendable {
    let description: AppDescription
    let circumstances: Callback.Circumstances

    init(_ description: AppDescription) {
      self.description = description
      circumstances = Callback.Circumstances(description)
    }
  }

  var description: AppDescription {
    _read { yield traits.description }
    set { traits = Traits(newValue) }
  }

  /// What of the description a callback's reason rests on.
  var circumstances: Callback.Circumstances { traits.circumstances }

  /// Inlined: a call copies the whole app.
  @inline(__always)
  func implements(_ method: Callback.Method, in version: IOSVersion) -> Bool {
    description.implements.contains(method) && version >= method.since
  }

  /// Everything that dies with the process.
  mutating func processEnded() {
    delegateSet = false
    awaited = []
    suspendAt = nil
    isLeaving = false
    wasFrontAtLock = false
    waitingForUnlock = []
    for index in scenes.indices { scenes[index].phase = .unattached }
    backgroundTasks = []
    isPrepared = false
    toldRefreshStatus = nil
    page = nil
    pushKit.processEnded()
    preference.wanted = nil
    registration.askedThisRun = false
    registration.answerDue = false
  }
}

/// A notification that the user can still see.
struct CentreEntry: Sendable {
  var id: String
  var notice: Notice
  var shownAt: Instant
  var onLockScreen = false
  var inCentre = false
  /// What of it lies over the screen; nil: nothing.
  var overlay: Overlay?
  /// When a scheduled summary brought it (D-265).
  var summarizedAt: Instant?

  /// A modal alert waits for its answer, or a banner hangs over the screen.
  var onScreen: Bool { overlay != nil }

  /// As the app's code gets it.
  var argument: NotificationArgument { NotificationArgument(notice, date: shownAt) }

  /// What its place in a list goes by.
  var listedAt: Instant { summarizedAt ?? shownAt }

  /// The user can find it nowhere any more.
  var isGone: Bool { !onLockScreen && !inCentre && !onScreen }

  enum Overlay: Hashable, Sendable {
    /// Goes away by itself.
    case banner
    /// Stays until it is used or swiped away (iOS 11 and later).
    case persistentBanner
    case modal

    var isBanner: Bool { self != .modal }
  }
}

struct HeldPush: Sendable {
  var notice: Notice
  /// When the budget has room again; nil: only when something changes.
  var until: Instant?
}

/// How far an app is with its token (D-040 … D-046).
struct Registration: Hashable, Sendable {
  var token: [UInt8]?
  /// The one that the push service has.
  var handed: [UInt8]?
  /// The app asked and has no answer yet.
  var waiting = false
  /// The token is there, the app could not be told yet.
  var answerDue = false
  /// `registerForRemoteNotifications` was called since the app started (D-012).
  var askedThisRun = false
  /// The app called `unregisterForRemoteNotifications` (D-029).
  var unregistered = false
  /// A restored phone asked for the token by itself, and the app is told without having asked (D-044).
  var unasked = false
  /// The push service's id (D-018).
  var registrationID: String?
}

/// A handler that was handed to the app's code.
struct AwaitedAnswer: Sendable {
  var method: Callback.Method
  var notice: Notice
  /// When the app's code will call it; nil: never.
  var answersAt: Instant?
  var deadline: Instant
  var rule: Rule

  var due: Instant { min(answersAt ?? deadline, deadline) }
}

/// How often an app may be woken: a bucket that refills evenly, and a sum for each day (D-175).
struct WakeBudget: Hashable, Sendable {
  private var spent = 0
  private var refilledAt: Instant?
  private var day: Int64?
  private var spentToday = 0
  /// Wakes that the app lost for not answering (D-005).
  private var penalty = 0

  private static let hour: Int64 = 3_600_000

  /// An app that did not call its handler is woken more rarely.
  mutating func penalize() { penalty = min(penalty + 1, 1_000) }

  private func perHour(_ settings: PhoneSettings) -> Int {
    settings.silentBudgetPerHour <= 0 ? 0 : max(1, min(settings.silentBudgetPerHour, 3_600) - penalty)
  }

  private mutating func refill(_ interval: Int64, at now: Instant) {
    let since = refilledAt ?? now
    let back = (now - since).milliseconds / interval
    guard back > 0, spent > 0 else {
      if spent == 0 || refilledAt == nil { refilledAt = now }
      return
    }
    spent -= Int(min(Int64(spent), back))
    refilledAt = spent == 0 ? now : since + .milliseconds(back * interval)
  }

  /// Takes one wake if there is one.
  mutating func take(_ settings: PhoneSettings, at now: Instant) -> Bool {
    if settings.developerAttached { return true }
    let allowed = perHour(settings)
    guard allowed > 0 else { return false }
    let today = now.seconds / 86_400
    if day != today {
      day = today
      spentToday = 0
    }
    if let most = settings.powerBudgetPerDay, spentToday >= most { return false }
    refill(Self.hour / Int64(allowed), at: now)
    guard spent < allowed else { return false }
    if spent == 0 { refilledAt = now }
    spent += 1
    spentToday += 1
    return true
  }

  /// When the next wake is there, at the earliest; nil: not by waiting within this hour's bucket.
  func nextWake(_ settings: PhoneSettings, after now: Instant) -> Instant? {
    let allowed = perHour(settings)
    guard allowed > 0, let refilledAt else { return nil }
    if let most = settings.powerBudgetPerDay, spentToday >= most {
      let tomorrow = Instant(seconds: (now.seconds / 86_400 + 1) * 86_400)
      return most > 0 && tomorrow > now ? tomorrow : nil
    }
    let interval = Self.hour / Int64(allowed)
    let next = max(refilledAt + .milliseconds(interval), now + .milliseconds(1))
    return next > now ? next : nil  // at the end of time there is no later
  }
}
