public import PushPayload

extension Phone {
  /// What somebody who looks at the phone would see of an app now, and where the app is in its life; for expectations.
  /// Members: `installed`, `state`, `badge`, `centre` and `lockScreen` (request identifiers, newest first), `token`
  /// (whether there is one), `registered` (whether the push service knows it), and of the phone `locked`, `online`,
  /// `prompt` (the app whose permission prompt lies on the screen, or null).
  public func facts(of bundleID: String) -> JSONObject {
    [
      "installed": .bool(state(of: bundleID) != nil),
      "state": state(of: bundleID).map { .string($0.rawValue) } ?? .null,
      "badge": .number(JSONNumber(badge(of: bundleID))),
      "centre": .array(centre(of: bundleID).map(JSONValue.string)),
      "lockScreen": .array(lockScreen(of: bundleID).map(JSONValue.string)),
      "token": .bool(token(of: bundleID) != nil), "registered": .bool(registrationID(of: bundleID) != nil),
      "locked": .bool(isLocked), "online": .bool(isOnline),
      "prompt": promptedApp.map(JSONValue.string) ?? .null,
    ]
  }
}

extension Phone {
  /// What is installed under that bundle id; nil: nothing.
  public func description(of bundleID: String) -> AppDescription? { index(of: bundleID).map { apps[$0].description } }

  /// The user's switches for an app in Settings; nil: no such app.
  public func userSettings(of bundleID: String) -> UserSettings? {
    index(of: bundleID).map { apps[$0].permission.user }
  }
}
