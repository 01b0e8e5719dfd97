import Basics
import BelfryTesting
import Phone
import PushPayload
import Testing

/// What the user of a shop's app sees of an order's push, and what the app's code gets. No server, no device, no waiting.
@Suite("The push of an order")
struct OrderPhoneTests {
  /// The app as its code is: which callbacks it has, and what it does in them.
  static var shop: AppDescription {
    var app = AppDescription(bundleID: "com.example.shop", name: "Shop")
    app.delegate = .beforeLaunchEnds
    app.backgroundModes = [.remoteNotification]
    app.presentation = [.banner, .sound]
    app.script = [
      .didFinishLaunching: [
        .askAndRegister(.usual),
        .setCategories([NotificationCategory(id: "ORDER", actions: [NotificationAction(id: "TRACK", title: "Track")])]),
      ],
      .didRegisterForRemoteNotifications: [.handTokenToService], .didBecomeActive: [.setBadge(0)],
    ]
    return app
  }

  /// What the server sends, as your own code makes it.
  static let shipped: JSONValue = [
    "aps": ["alert": ["title": "Shipped", "body": "Order 4711 is on its way"], "badge": 1, "category": "ORDER"],
    "order": 4711,
  ]

  @Test("shows on a locked phone, and a tap opens the order", arguments: [IOSVersion(12), IOSVersion(17, 5)])
  func tap(ios: IOSVersion) throws {
    var phone = TestPhone(ios: ios)
    phone.install(Self.shop, start: .notRunning)
    phone.lock()
    phone.push(Self.shipped)
    try phone.expectShown("LWCN")
    try phone.expectCallbacks()
    phone.tap()
    phone.unlock()
    try phone.expect(
      .contains([EntryPattern(["callback": ["method": "didReceiveResponse", "userInfo": ["order": 4711]]])]))
    #expect(phone.badge() == 0 && phone.centre().isEmpty)
  }

  @Test("while the app is open, it decides what shows")
  func front() throws {
    var phone = TestPhone()
    phone.install(Self.shop, start: .active)
    phone.push(Self.shipped)
    try phone.expectCallbacks("willPresent")
    try phone.expectShown("B")
  }

  @Test("a day without network brings the newest order only")
  func offline() throws {
    var phone = TestPhone()
    phone.install(Self.shop)
    phone.goOffline()
    for order in 1...3 { phone.push(["aps": ["alert": "Shipped"], "order": .number(JSONNumber(order))]) }
    phone.wait(.days(1))
    phone.goOnline()
    try phone.expectShown("BC")
    #expect(phone.failure(of: .never(["fault"]), in: .everything) == nil)
  }
}
