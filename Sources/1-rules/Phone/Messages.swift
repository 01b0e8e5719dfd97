import PushPayload

/// The SDK's connection to the push service, and what it remembers in the app's container.
struct MessageBox: Sendable {
  var connection = Connection.closed
  /// The newest message that the app has: what comes after it was missed (D-305). Outlives the process, not the app.
  var newest: Int64 = 0
  /// The last pushes of which the app has the message, and the notification (D-326).
  var messages: [Int64] = []
  var notifications: [Int64] = []

  enum Connection: UInt8, Sendable {
    /// Then: connecting, when the app comes to front with a network.
    case closed
    /// Then: open, when the service answers; closed, when the app leaves before (D-303).
    case connecting
    /// Then: closed, when the app leaves the front or the network goes (D-304).
    case open
  }

  /// Enough for what one sitting at the phone brings.
  private static let mostRemembered = 64

  /// Adds one; true for one that is there already.
  static func remember(_ id: Int64, in ids: inout [Int64]) -> Bool {
    if ids.contains(id) { return true }
    if ids.count == mostRemembered { ids.removeFirst() }
    ids.append(id)
    return false
  }
}

/// In-app messages, as far as the phone decides (spec section K): an SDK connection that lives only while the app is in
/// front, what was missed in order, and each message once.
extension Phone {
  /// The app has come to front or left it.
  mutating func frontChanged(_ app: Int) {
    if apps[app].state.isFront {
      connectForMessages(app)
    } else {
      disconnectFromMessages(app, "the app is not in front any more")
    }
  }

  private mutating func connectForMessages(_ app: Int) {
    guard apps[app].messages.connection == .closed else { return }
    guard isOnline else {
      let words = "no network, so no messages; what a notification said does not take their place"
      return record(.system(words), app, "D-325")
    }
    apps[app].messages.connection = .connecting
    let newest = apps[app].messages.newest
    record(.app("the SDK connects for messages\(newest == 0 ? "" : " after \(newest)")"), app, "D-305")
    effects.append(
      .connectForMessages(
        bundleID: apps[app].description.bundleID, registrationID: apps[app].registration.registrationID, after: newest))
  }

  mutating func disconnectFromMessages(_ app: Int, _ why: String) {
    guard apps[app].messages.connection != .closed else { return }
    apps[app].messages.connection = .closed
    record(.app("the SDK closes its connection: \(why)"), app, "D-304")
    effects.append(.disconnectFromMessages(bundleID: apps[app].description.bundleID))
  }

  /// The network came or went.
  mutating func messagesFollowNetwork() {
    for app in apps.indices where apps[app].description.usesMessages && apps[app].state.isFront {
      if isOnline { connectForMessages(app) } else { disconnectFromMessages(app, "the network is gone") }
    }
  }

  mutating func messagesConnected(_ app: Int) {
    guard apps[app].messages.connection == .connecting else {
      return record(.system("the service opened a connection that the SDK no longer wants"), app, "D-303")
    }
    apps[app].messages.connection = .open
    record(.system("connected to the push service for messages"), app, "D-303")
  }

  mutating func messagesDisconnected(_ app: Int) {
    guard apps[app].messages.connection != .closed else { return }
    apps[app].messages.connection = .closed
    record(.system("the connection for messages is gone"), app, "D-304")
    if apps[app].state.isFront { connectForMessages(app) }
  }

  mutating func takeMessage(_ message: InAppMessage, for app: Int) {
    let number = message.sequence
    switch apps[app].messages.connection {
    case .closed:
      return record(.system("message \(number) waits at the service: the app is not connected"), app, "D-304")
    case .connecting:
      return record(.system("message \(number) waits at the service: there is no connection yet"), app, "D-303")
    case .open: break
    }
    guard number > apps[app].messages.newest else {
      return record(.system("message \(number) came again: the app has it"), app, "D-305")
    }
    apps[app].messages.newest = number
    if let id = message.messageID {
      if apps[app].messages.notifications.contains(id) { tellOfPair(id, "its notification", app) }
      _ = MessageBox.remember(id, in: &apps[app].messages.messages)
    }
    if !call(.didReceiveMessage, of: app, .message(message), "D-308") {
      record(.system("the app has no handler for messages: message \(number) is lost on it"), app, "D-002")
    }
  }

  /// The app's code was given a notification: the SDK links it with the message of the same push.
  mutating func noteNotification(_ userInfo: JSONObject?, of app: Int) {
    guard let id = userInfo?["_j_msgid"]?.number?.int64,
      !MessageBox.remember(id, in: &apps[app].messages.notifications),
      apps[app].messages.messages.contains(id)
    else { return }
    tellOfPair(id, "its message", app)
  }

  private mutating func tellOfPair(_ id: Int64, _ what: String, _ app: Int) {
    record(.system("push \(id): the app has \(what) already, so that it can show the event once"), app, "D-326")
  }

  // MARK: history

  mutating func fetchMessageHistory(_ app: Int) {
    record(.app("asks the push service for all messages"), app, "D-302")
    guard isOnline else { return record(.system("no network: no answer"), app, "D-302") }
    effects.append(
      .fetchMessageHistory(
        bundleID: apps[app].description.bundleID, registrationID: apps[app].registration.registrationID))
  }

  mutating func takeHistory(_ messages: [InAppMessage], for app: Int) {
    guard apps[app].state.isExecuting else {
      return record(.system("the message history waits for no code, the app does not run"), app, "D-302")
    }
    call(.messageHistory, of: app, .messages(messages), "D-302")
  }

  // MARK: what APNs did

  /// What the delivery log of APNs would say, at the time it would (D-348, D-349).
  mutating func tellFate(_ fate: DeliveryMetric, of pushID: String, for app: Int) {
    record(
      .withheld(pushID: pushID, reason: "APNs: \(fate.words)"), app, fate == .discardedDisabled ? "D-047" : "D-349")
  }
}

extension Phone {
  /// The newest in-app message that the app has; 0: none (D-305).
  public func newestMessage(of bundleID: String) -> Int64 {
    index(of: bundleID).map { apps[$0].messages.newest } ?? 0
  }

  /// Whether the SDK is connected for messages (D-304).
  public func isConnectedForMessages(_ bundleID: String) -> Bool {
    index(of: bundleID).map { apps[$0].messages.connection == .open } ?? false
  }
}
