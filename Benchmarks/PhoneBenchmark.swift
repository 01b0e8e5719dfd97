import Basics
import Phone
import PushPayload

/// Events of the delivery matrix on the simulated phone, one core: every kind of push in every state of the app, locked
/// and unlocked, on an iOS of each generation, each followed by a tap or by opening the app. The peer is what a test
/// would have without a phone: a plain switch over the same inputs that says which callback comes and what is shown.
func phoneBenchmark(_ setting: Setting) throws -> [Figure] {
  let cells = MatrixCell.all
  var pair = Pair()
  var entries = 0
  var letters = 0
  let span = setting.isQuick ? 0.2 : 1.0
  for _ in 0..<setting.runs {
    pair.ours.append(
      2 * Double(cells.count) * ratePerCore(of: 10, for: span) { for cell in cells { entries &+= cell.play() } })
    pair.peer.append(
      2 * Double(cells.count) * ratePerCore(of: 1000, for: span / 4) { for cell in cells { letters &+= cell.lookUp() } }
    )
  }
  guard entries != 0, letters != 0 else { throw BenchFault("phone: nothing happened") }
  let size = phoneSize(count: setting.isQuick ? 20_000 : 100_000)
  return [
    pair.figure(
      "phone", "events of the delivery matrix", "events/s", peer: "a plain switch, nothing kept",
      bar: .atLeast(500_000)),
    Figure(
      id: "phone", what: "a phone with an app and five notifications", unit: "KiB", ours: [size], peerName: "",
      peer: [],
      bar: .atMost(20)),
  ]
}

/// What `count` phones with one app and five notifications each take in memory, by the growth of what is resident; KiB a
/// phone. Each is made anew, so that none shares what a copy would.
private func phoneSize(count: Int) -> Double {
  let pushes = (0..<5).map { number in
    DeliveredPayload(
      id: "p\(number)", bundleID: MatrixCell.bundle,
      bytes: Array(#"{"aps":{"alert":{"title":"New","body":"Hello \#(number)"},"badge":3,"sound":"default"}}"#.utf8))
  }
  let before = residentMiB()
  let phones = (0..<count).map { _ in
    var phone = MatrixCell.phone(IOSVersion(17))
    for (second, push) in pushes.enumerated() {
      _ = phone.handle(.push(push), at: MatrixCell.start + .seconds(60 + Int64(second)))
    }
    _ = phone.takeTimeline()
    return phone
  }
  return withExtendedLifetime(phones) { (residentMiB() - before) * 1024 / Double(count) }
}

/// One cell with what happens in it: a push comes, then the user acts. A class, so that the loops copy nothing.
private final class MatrixCell: Sendable {
  let phone: Phone
  let push: Phone.Event
  let act: Phone.Event
  let arrival: Instant
  let generation: IOSVersion.Generation
  let state: AppState
  let isLocked: Bool
  let kind: PushKind

  static let bundle = "com.example.news"
  static let start = Instant(seconds: 1_796_029_200)

  static let all: [MatrixCell] = [IOSVersion(6, 1), IOSVersion(9, 3), IOSVersion(17)].flatMap { version in
    [false, true].flatMap { locked in
      AppState.allCases.filter { !locked || $0 != .inactive }.flatMap { state in
        kinds.map { MatrixCell(version, state, locked, $0) }
      }
    }
  }

  private static let kinds: [(kind: PushKind, type: PushType, payload: String)] = [
    (.alert, .alert, #"{"aps":{"alert":{"title":"New","body":"Hello"},"badge":3,"sound":"default"}}"#),
    (
      .alertAndWake, .alert,
      #"{"aps":{"alert":{"title":"New","body":"Hello"},"badge":3,"sound":"default","content-available":1}}"#
    ),
    (.silent, .background, #"{"aps":{"content-available":1}}"#),
    (.badgeOnly, .alert, #"{"aps":{"badge":3}}"#),
    (.soundOnly, .alert, #"{"aps":{"sound":"default"}}"#),
    (.silentWithExtras, .background, #"{"aps":{"content-available":1},"customData":{"task":"sync"}}"#),
  ]

  private init(
    _ version: IOSVersion, _ state: AppState, _ locked: Bool, _ push: (kind: PushKind, type: PushType, payload: String)
  ) {
    var phone = Self.phone(version)
    var now = Self.start + .seconds(1)
    let toState: [Phone.Event] =
      switch state {
      case .notRunning: []
      case .forceQuit: [.launch(bundleID: Self.bundle), .home, .forceQuit(bundleID: Self.bundle)]
      case .suspended: [.launch(bundleID: Self.bundle), .home, .suspend(bundleID: Self.bundle)]
      case .background: [.launch(bundleID: Self.bundle), .home]
      case .inactive: [.launch(bundleID: Self.bundle), .openCentre]
      case .active: [.launch(bundleID: Self.bundle)]
      }
    for event in toState + (locked ? [.lock] : []) {
      now = now + .milliseconds(100)
      _ = phone.handle(event, at: now)
    }
    _ = phone.takeTimeline()
    self.phone = phone
    arrival = now + .milliseconds(100)
    generation = version.generation
    self.state = state
    isLocked = locked
    kind = push.kind
    self.push = .push(
      DeliveredPayload(
        id: "p", bundleID: Self.bundle, pushType: push.type,
        priority: push.type == .background ? .considerate : .immediate, bytes: Array(push.payload.utf8)))
    act =
      push.kind == .alert || push.kind == .alertAndWake
      ? .tap(bundleID: Self.bundle, id: "p") : .launch(bundleID: Self.bundle)
  }

  /// With the app, which may show everything.
  static func phone(_ version: IOSVersion) -> Phone {
    var app = AppDescription(bundleID: bundle, name: "News")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.presentation = [.banner, .list, .sound, .badge]
    var phone = Phone(PhoneSettings(iosVersion: version))
    for event in [.installApp(app), .changePermission(bundleID: bundle, Phone.UserSettings())] as [Phone.Event] {
      _ = phone.handle(event, at: start)
    }
    _ = phone.takeTimeline()
    return phone
  }

  /// Answers how much was told.
  func play() -> Int {
    var phone = phone
    _ = phone.handle(push, at: arrival)
    _ = phone.handle(act, at: arrival)
    return phone.timeline.count
  }

  /// The rows of the matrix, from the table alone.
  func lookUp() -> Int {
    let isFront = !isLocked && (state == .active || state == .inactive)
    let called: Int
    switch (generation, kind) {
    case (.g1, _): called = isFront ? 1 : 0
    case (.g2, .alert), (.g2, .badgeOnly), (.g2, .soundOnly): called = isFront ? 2 : 0
    case (.g2, _): called = isFront ? 2 : state == .forceQuit ? 0 : state == .notRunning ? 6 : 2
    case (.g3, .alert), (.g3, .badgeOnly), (.g3, .soundOnly): called = isFront ? 3 : 0
    case (.g3, .alertAndWake): called = isFront ? 5 : state == .forceQuit ? 0 : state == .notRunning ? 6 : 2
    case (.g3, _): called = isFront ? 2 : state == .forceQuit ? 0 : state == .notRunning ? 6 : 2
    }
    let shown: Int
    switch kind {
    case .alert, .alertAndWake: shown = isFront && generation != .g3 ? 0 : isLocked ? 31 : 15
    case .badgeOnly: shown = isFront && generation != .g3 ? 0 : 1
    case .soundOnly: shown = isFront && generation != .g3 ? 0 : 2
    case .silent, .silentWithExtras, .voip, .special, .nothing: shown = 0
    }
    return called &+ shown
  }
}
