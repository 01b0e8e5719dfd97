import PushPayload

/// Categories, and the buttons that they give a notification (spec sections E and I2).
extension Phone {
  /// The set that replaces the former one; on iOS 8 and 9 it is part of the user-notification settings (D-242).
  mutating func setCategories(_ categories: [NotificationCategory], of app: Int) {
    record(.app(AppAct.setCategories(categories).words(on: settings.iosVersion)), app, "D-242")
    apps[app].categories = categories
    var seen: Set<String> = []
    for action in categories.flatMap(\.actions) where !seen.insert(action.id).inserted {
      record(.fault("two actions are called \(action.id): the app cannot tell them apart"), app, "D-243")
    }
    for category in categories where category.actions.count > Self.mostButtons {
      record(
        .system("\(category.id) has \(category.actions.count) actions; at most \(Self.mostButtons) are shown"), app,
        "D-243")
    }
  }

  /// iOS 10 and later, where there is room.
  private static let mostButtons = 10
  /// iOS 8 and 9: in a modal alert, and everywhere else; later on a banner until it is pulled open.
  private static let mostInAlert = 4
  static let mostInBanner = 2

  /// The registered category that the notification names; nil: it is shown plain (D-150).
  func category(of notice: Notice, _ app: Int) -> NotificationCategory? {
    guard let id = notice.content.payload.category else { return nil }
    return apps[app].categories.first { $0.id == id }
  }

  /// The buttons of an entry when the user pulls it open (D-243).
  func buttons(of entry: CentreEntry, _ app: Int) -> [NotificationAction] {
    guard settings.iosVersion.major >= 8, let category = category(of: entry.notice, app) else { return [] }
    if settings.iosVersion.major >= 10 { return Array(category.actions.prefix(Self.mostButtons)) }
    if entry.overlay == .modal { return Array(category.actions.prefix(Self.mostInAlert)) }
    guard let minimal = category.minimalActions else { return Array(category.actions.prefix(Self.mostInBanner)) }
    return minimal.prefix(Self.mostInBanner).compactMap { id in category.actions.first { $0.id == id } }
  }

  /// The buttons that a notification has (nil: the newest), as the user sees them when it is pulled open.
  public func buttons(of bundleID: String, id: String?) -> [NotificationAction] {
    guard let app = index(of: bundleID), let entry = entry(id, of: app) else { return [] }
    return buttons(of: entry, app)
  }

  // MARK: pressing one

  mutating func pressButton(_ action: String, of id: String?, text: String?, _ app: Int) {
    guard let entry = entry(id, of: app) else {
      return record(.user("finds no notification of the app to act on"), app, "D-151")
    }
    guard let button = buttons(of: entry, app).first(where: { $0.id == action }) else {
      return record(.user("finds no button \(action): \(whyNoButton(entry, app))"), app, "D-150")
    }
    let asks =
      button.options.contains(.foreground) || launchesWait
      || settings.passcode && button.options.contains(.authenticationRequired)
    if isLocked, asks {
      return askWho(
        WaitingUse(bundleID: apps[app].description.bundleID, id: entry.id, act: .press(button, text: text)),
        button.options.contains(.foreground) ? "D-142" : "D-143")
    }
    press(button, text: text, on: entry, of: app)
  }

  private func whyNoButton(_ entry: CentreEntry, _ app: Int) -> String {
    guard settings.iosVersion.major >= 8 else { return "iOS \(settings.iosVersion) has no actions" }
    guard let id = entry.notice.content.payload.category else { return "the notification names no category" }
    return category(of: entry.notice, app) == nil
      ? "no category \(id) is registered, the notification is plain" : "\(id) does not show it here"
  }

  /// The phone knows who it is, or need not.
  mutating func press(_ button: NotificationAction, text: String?, on entry: CentreEntry, of app: Int) {
    let typed = button.textInput == nil || settings.iosVersion.major < 9 ? nil : text ?? ""
    let rule = ruleOfPressing(button, typed: typed, app)
    let words = typed.map { " and types “\($0)”" } ?? ""
    record(.user("presses \(button.id) of the notification \(entry.id)\(words)"), app, rule)
    if text != nil, typed == nil { record(.system("the button takes no text"), app, "D-144") }
    let passage = askContentExtension(button.id, text: typed, on: entry, of: app)
    guard passage != .keptOpen else { return }
    remove([entry.id], of: app, "acted on", rule)
    guard passage == .toApp else { return }
    let response = Response(button.id, to: entry, text: typed)
    let payload = settings.actionLaunchOptions ? entry.notice.content.userInfo : nil
    if button.options.contains(.foreground) {
      bringToFront(app, for: response, payload: payload, rule)
    } else {
      runBehind(app, with: payload, rule) { $0.tell(response, to: app, rule, $1) }
    }
  }

  private func ruleOfPressing(_ button: NotificationAction, typed: String?, _ app: Int) -> Rule {
    if apps[app].state == .forceQuit { return "D-148" }
    if typed != nil { return "D-144" }
    if button.options.contains(.foreground) { return "D-142" }
    return button.options.contains(.authenticationRequired) ? "D-143" : "D-141"
  }

  /// Runs the app's code where it is, else in the background, where it may be launched for it (D-141).
  mutating func runBehind(
    _ app: Int, with payload: JSONObject?, _ rule: Rule, _ body: (inout Phone, Occasion) -> Void
  ) {
    guard !apps[app].isOffloaded else { return reinstallOffloaded(app) }
    guard apps[app].state.isAlive || !launchesWait else {
      return record(.system("its code does not run before the first unlock"), app, "D-185")
    }
    let occasion = Occasion(isLaunch: !apps[app].state.isAlive)
    switch apps[app].state {
    case .notRunning, .forceQuit: launchBehind(app, with: payload, rule, because: .act)
    case .suspended: resumeBehind(app, rule)
    case .background, .inactive, .active: break
    }
    body(&self, occasion)
    suspendIfIdle(app, "D-158")
  }

  /// HAI: on iOS 9 the call with the typed text, if the app implements it (D-141, D-144).
  mutating func tellAction(_ response: Response, to app: Int, _ rule: Rule) {
    let notice = response.entry.notice
    let argument = ActionArgument(
      identifier: response.action, notification: response.entry.argument, typedText: response.text)
    let (plain, withResponse): (Callback.Method, Callback.Method) =
      switch notice.origin {
      case .remote: (.handleAction, .handleActionWithResponse)
      case .local: (.handleLocalAction, .handleLocalActionWithResponse)
      }
    for method in [withResponse, plain] where call(method, of: app, .action(argument), rule) {
      if method == plain, response.text?.isEmpty == false {
        record(.withheld(pushID: notice.pushID, reason: "the typed text: \(method.selector) has none"), app, "D-144")
      }
      return wait(for: method, notice, of: app, apps[app].description.responseAnswer, "D-005")
    }
    record(.withheld(pushID: notice.pushID, reason: "the app implements no callback for a button"), app, "D-002")
  }
}
