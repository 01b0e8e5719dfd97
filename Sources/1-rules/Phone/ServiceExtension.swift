import Basics
import PushPayload

/// The notification service extension in an app's bundle, as a script: what it makes of a push, when, and how it fails
/// (D-250 … D-255). It runs in a process of its own, whatever the app's state.
public struct ServiceExtension: Hashable, Sendable {
  /// What `didReceive` changes before it calls the content handler, in order (D-251).
  public var edits: [ContentEdit]
  /// When it calls the content handler, from `didReceive` on (D-252).
  public var answer = AppDescription.Answer.atOnce
  /// What `serviceExtensionTimeWillExpire` makes of the original before it calls the handler; nil: it does not call it.
  public var expiryEdits: [ContentEdit]?
  /// Ends by a fault of its own when it would have answered; at once if it never would (D-255).
  public var crashes = false
  /// The most memory it takes; above `PhoneSettings.extensionMemoryMegabytes` the system ends it at once (D-255).
  public var memoryMegabytes = 8

  public init(edits: [ContentEdit] = []) { self.edits = edits }
}

/// A notification that the service extension has, and for how long.
struct ServiceRun: Sendable {
  /// As it came; what is shown when the extension fails.
  var notice: Notice
  /// When the content handler will be called, or the extension crashes; nil: never.
  var answersAt: Instant?
  /// When its time is over (D-252).
  var deadline: Instant
  /// The fetch callback has come already.
  var isFetched: Bool

  var due: Instant { min(answersAt ?? deadline, deadline) }
}

/// What the service extension gets, and what is made of its answer (spec section I3).
extension Phone {
  /// Hands the notification to the app's service extension, if it is for it; answers whether it did. What is shown
  /// then comes from `present`, at once or later.
  mutating func startServiceExtension(for notice: Notice, of app: Int, isFetched: Bool) -> Bool {
    guard let script = serviceExtension(for: notice, app) else { return false }
    if let reason = serviceObstacle(notice, app) {
      record(.system("the service extension does not run: \(reason)"), app, "D-250")
      return false
    }
    recordCall(.serviceDidReceive, of: app, .notification(NotificationArgument(notice, date: now)), "D-250")
    var run = ServiceRun(notice: notice, answersAt: now, deadline: now + settings.extensionTime, isFetched: isFetched)
    switch script.answer {
    case .atOnce, .twice: break
    case .after(let span): run.answersAt = now + max(span, .milliseconds(0))
    case .never: run.answersAt = script.crashes ? now : nil
    }
    if script.memoryMegabytes > settings.extensionMemoryMegabytes { run.answersAt = now }
    if run.answersAt == now { finish(run, of: app) } else { apps[app].serviceRuns.append(run) }
    return true
  }

  /// It is bundled, asked for, and nothing stands against it (D-250).
  func runsServiceExtension(_ notice: Notice, _ app: Int) -> Bool {
    serviceExtension(for: notice, app) != nil && serviceObstacle(notice, app) == nil
  }

  /// Bundled with the app, and asked for by the push; a local notification goes through none.
  private func serviceExtension(for notice: Notice, _ app: Int) -> ServiceExtension? {
    guard !notice.isLocal, notice.content.payload.mutableContent else { return nil }
    return apps[app].description.serviceExtension
  }

  /// Why an extension that is there and asked for does not run (D-250); nil: it runs.
  private func serviceObstacle(_ notice: Notice, _ app: Int) -> String? {
    if settings.iosVersion.major < 10 { return "iOS \(settings.iosVersion) knows none" }
    if !notice.content.hasAlert { return "the push has no title, subtitle or body" }
    if !apps[app].permission.alert { return "the app may not show alerts" }
    return nil
  }

  /// The extension has answered, its time is over, or it is gone.
  mutating func finish(_ run: ServiceRun, of app: Int) {
    guard let script = apps[app].description.serviceExtension else { return presentOriginal(run, app) }
    if script.memoryMegabytes > settings.extensionMemoryMegabytes {
      let sizes = "\(script.memoryMegabytes) MB of \(settings.extensionMemoryMegabytes)"
      record(.fault("the service extension took \(sizes): the system ends it"), app, "D-255")
      return presentOriginal(run, app)
    }
    guard let answersAt = run.answersAt, answersAt <= run.deadline else { return expire(run, script, app) }
    guard !script.crashes else {
      record(.fault("the service extension crashed"), app, "D-255")
      return presentOriginal(run, app)
    }
    take(script.edits, run, app)
    if script.answer == .twice {
      record(.fault("the service extension called its handler twice; the first call counts"), app, "D-252")
    }
  }

  private mutating func expire(_ run: ServiceRun, _ script: ServiceExtension, _ app: Int) {
    recordCall(.serviceTimeWillExpire, of: app, .none, "D-252")
    guard let edits = script.expiryEdits else {
      let span = "\(settings.extensionSeconds) s"
      record(.fault("the service extension did not call its handler within \(span)"), app, "D-252")
      return presentOriginal(run, app)
    }
    take(edits, run, app)
  }

  private mutating func presentOriginal(_ run: ServiceRun, _ app: Int) {
    record(.system("the original content is shown"), app, "D-252")
    present(run.notice, at: app, isFetched: run.isFetched)
  }

  /// The content handler was called.
  private mutating func take(_ edits: [ContentEdit], _ run: ServiceRun, _ app: Int) {
    var notice = run.notice
    notice.content = notice.content.edited(by: sharing(edits, of: app))
    guard notice.content.hasAlert else { return takeEmptied(run, app) }
    record(.app("its service extension answers: \(notice.content.appearance.summary)"), app, "D-251")
    notice.content = withGoodAttachments(notice, app)
    present(notice, at: app, isFetched: run.isFetched)
  }

  /// No text is left: shown nowhere with the entitlement, else as it came (D-251, D-254).
  private mutating func takeEmptied(_ run: ServiceRun, _ app: Int) {
    guard apps[app].description.entitlements.contains(.filtering), settings.iosVersion >= IOSVersion(13, 3),
      run.notice.push?.pushType == .alert
    else {
      record(.app("its service extension answers without any text: that counts for nothing"), app, "D-251")
      return presentOriginal(run, app)
    }
    record(
      .withheld(pushID: run.notice.pushID, reason: "its service extension filtered it: shown nowhere"), app, "D-254")
  }

  /// The system looks at what is attached after the extension has ended; what it cannot show it leaves out (D-256).
  private mutating func withGoodAttachments(_ notice: Notice, _ app: Int) -> Content {
    let content = notice.content
    guard content.attachments.contains(where: { $0.flaw != nil }) else { return content }
    for attachment in content.attachments {
      guard let flaw = attachment.flaw else { continue }
      record(
        .withheld(pushID: notice.pushID, reason: "its attachment \(attachment.file) is left out: \(flaw.rawValue)"),
        app,
        "D-256")
    }
    return Content(
      content.payload, userInfo: content.userInfo, flaw: content.flaw,
      attachments: content.attachments.filter { $0.flaw == nil })
  }

  /// The processes of an app's extensions are gone: what they held is shown as it came (D-255).
  mutating func endServiceExtension(of app: Int) {
    let runs = apps[app].serviceRuns
    apps[app].serviceRuns = []
    for run in runs { presentOriginal(run, app) }
  }
}
