/// How notifications leave without being used (spec section E).
extension Phone {
  /// X, or a swipe: explicit, so that the app may learn of it (D-145).
  mutating func dismiss(_ app: Int, id: String?) {
    guard let entry = entry(id, of: app) else {
      return record(.user("finds no notification of the app to dismiss"), app, "D-151")
    }
    record(.user("dismisses the notification \(entry.id)"), app, "D-145")
    remove([entry.id], of: app, "dismissed by the user", "D-234")
    tellDismissal(of: [entry], app, "D-145")
  }

  /// One by its identifier, or the app's whole group: each entry is a dismissal of its own (D-147).
  mutating func clear(_ app: Int, id: String?) {
    if id != nil { return dismiss(app, id: id) }
    record(.user("clears the app's notifications"), app, "D-147")
    let entries = Array(apps[app].entries.reversed())
    removeAll(of: app, "cleared by the user", "D-234")
    tellDismissal(of: entries, app, "D-147")
  }

  /// DRR(dismiss), newest first, for those whose category asks for it; the app is launched for it (D-145).
  private mutating func tellDismissal(of entries: [CentreEntry], _ app: Int, _ rule: Rule) {
    guard settings.iosVersion.major >= 10 else { return }
    let asking = entries.filter {
      category(of: $0.notice, app)?.options.contains(.customDismissAction) == true
    }
    guard !asking.isEmpty else {
      guard !entries.isEmpty else { return }
      return record(.system("no callback: no category with customDismissAction"), app, rule)
    }
    runBehind(app, with: nil, rule) { phone, occasion in
      for entry in asking {
        if phone.apps[app].state == .suspended { phone.setState(.background, of: app, rule) }
        phone.tell(Response(Callback.dismissAction, to: entry), to: app, rule, occasion)
      }
    }
  }

  /// The banner goes, nobody learns of it, and the entry stays in the centre (D-146).
  mutating func flickAway(_ app: Int) {
    guard !apps[app].entries.contains(where: { $0.overlay == .modal }) else {
      return record(.user("cannot flick a modal alert away, it wants an answer"), app, "D-127")
    }
    record(.user("flicks the banner away"), app, "D-146")
    leaveScreen(of: app, "flicked away", "D-146")
  }

  /// Close on a modal alert, or not looking at a banner (D-131, D-134).
  mutating func closeAlert(_ app: Int) {
    let rule: Rule = apps[app].state.isAlive ? "D-134" : "D-131"
    record(.user("closes the alert"), app, rule)
    leaveScreen(of: app, "closed by the user", rule)
  }

  /// What was on the screen only is gone; what is listed stays listed.
  private mutating func leaveScreen(of app: Int, _ reason: String, _ rule: Rule) {
    let ids = apps[app].entries.filter { $0.onScreen && !$0.inCentre && !$0.onLockScreen }.map(\.id)
    for index in apps[app].entries.indices { apps[app].entries[index].overlay = nil }
    remove(ids, of: app, reason, rule)
  }
}
