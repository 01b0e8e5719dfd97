import Basics

/// Work that an app has told the system of, so as not to be suspended (`beginBackgroundTask`).
struct BackgroundTask: Hashable, Sendable {
  var id: Int
  /// When the work is done and the app's code ends the task; nil: not by itself.
  var endsAt: Instant?
}

/// Background tasks (D-172; Apple, "Extending your app's background execution time"). Their time counts from leaving
/// the screen, or from the wake, and is one for all tasks of the app. When it is over each expiration handler is called;
/// a task that is still open then ends the app.
extension Phone {
  mutating func beginBackgroundTask(_ seconds: Int64?, by app: Int) {
    apps[app].lastTask += 1
    let task = BackgroundTask(id: apps[app].lastTask, endsAt: seconds.map { now + .seconds(max(0, $0)) })
    apps[app].backgroundTasks.append(task)
    record(.app("begins background task \(task.id)"), app, "D-172")
  }

  mutating func endBackgroundTask(by app: Int) {
    let tasks = apps[app].backgroundTasks
    let meant = apps[app].expiringTask.map { id in tasks.firstIndex { $0.id == id } } ?? tasks.indices.last
    guard let index = meant else { return record(.fault("has no background task to end"), app, "D-172") }
    let task = apps[app].backgroundTasks.remove(at: index)
    record(.app("ends background task \(task.id)"), app, "D-172")
    suspendWhenDone(app)
  }

  /// Soon, not inside the call that ended the last task.
  private mutating func suspendWhenDone(_ app: Int) {
    guard apps[app].backgroundTasks.isEmpty, apps[app].state == .background, apps[app].suspendAt == nil else { return }
    apps[app].suspendAt = now
  }

  /// When something happens to the app's background tasks by itself.
  func backgroundTasksDue(of app: Int) -> Instant? {
    guard !apps[app].backgroundTasks.isEmpty else { return nil }
    var earliest = Earliest()
    for task in apps[app].backgroundTasks { earliest.consider(task.endsAt) }
    earliest.consider(backgroundLimit(of: app))
    return earliest.time
  }

  private func backgroundLimit(of app: Int) -> Instant? {
    guard apps[app].state == .background, let since = apps[app].backgroundSince else { return nil }
    return since + settings.backgroundTaskTime
  }

  /// Ends the tasks whose work is done, and all when their time is over.
  mutating func fireBackgroundTasks(of app: Int) {
    while let index = apps[app].backgroundTasks.firstIndex(where: { $0.endsAt.map { $0 <= now } ?? false }) {
      let task = apps[app].backgroundTasks.remove(at: index)
      record(.app("ends background task \(task.id)"), app, "D-172")
      suspendWhenDone(app)
    }
    guard !apps[app].backgroundTasks.isEmpty, let limit = backgroundLimit(of: app), limit <= now else { return }
    record(.system("the time of background tasks is over"), app, "D-172")
    for task in apps[app].backgroundTasks where apps[app].backgroundTasks.contains(task) {
      apps[app].expiringTask = task.id
      call(.backgroundTaskExpired, of: app, .backgroundTask(task.id), "D-172")
    }
    apps[app].expiringTask = nil
    guard let open = apps[app].backgroundTasks.first else { return }
    record(.fault("did not end background task \(open.id) in its expiration handler"), app, "D-172")
    end(app, as: .notRunning, "D-172")
  }
}
