#if canImport(UserNotifications) && !os(tvOS)
  public import UserNotifications

  /// Call each in the method of `UNUserNotificationCenterDelegate` or `UIApplicationDelegate` that it names. They return at
  /// once, and count a push once however many of them are called.
  extension Belfry {
    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)`
    public nonisolated func willPresent(_ notification: UNNotification) {
      noteLater(.received, notification.request)
    }

    /// `userNotificationCenter(_:didReceive:withCompletionHandler:)`
    public nonisolated func didReceive(_ response: UNNotificationResponse) {
      guard response.actionIdentifier != UNNotificationDismissActionIdentifier else { return }
      noteLater(.clicked, response.notification.request)
    }

    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`; call the handler when it returns. Takes from the
    /// centre what the service asks to show no more, and what the user has read in the app already.
    public nonisolated func didReceiveRemoteNotification(_ push: PushInfo) async {
      _ = try? await note(.received, of: push)
      if let withdrawn = push.withdrawn { await Self.removeDelivered([withdrawn]) }
      await removeReadNotifications()
    }

    /// The user has read them in the app: their notifications go from the centre. One that comes later goes when it wakes the
    /// app (`content-available`), or when the app comes to front and calls `removeReadNotifications()`.
    public nonisolated func markReadAndRemove(_ ids: [String]) async throws(BelfryFault) {
      try await markRead(ids)
      await Self.removeDelivered(ids)
    }

    public nonisolated func removeReadNotifications() async {
      let shown = await Self.delivered().compactMap(\.messageID)
      guard let read = try? await toRemove(of: shown), !read.isEmpty else { return }
      await Self.removeDelivered(read)
    }

    /// Notifications of these pushes, by their `_j_msgid`.
    public static func removeDelivered(_ messageIDs: [String]) async {
      let meant = await delivered().filter { shown in shown.messageID.map(messageIDs.contains) ?? false }
      UNUserNotificationCenter.current().removeDeliveredNotifications(withIdentifiers: meant.map(\.request))
    }

    private struct Shown: Sendable {
      var request: String
      var messageID: String?
    }

    private static func delivered() async -> [Shown] {
      await withCheckedContinuation { (done: CheckedContinuation<[Shown], Never>) in
        UNUserNotificationCenter.current().getDeliveredNotifications { delivered in
          done.resume(
            returning: delivered.map { notification in
              Shown(
                request: notification.request.identifier,
                messageID: PushInfo(userInfo: notification.request.content.userInfo).messageID)
            })
        }
      }
    }

    /// Local notifications are nobody's to report.
    private nonisolated func noteLater(_ report: PushReport, _ request: UNNotificationRequest) {
      guard request.trigger is UNPushNotificationTrigger else { return }
      let push = PushInfo(userInfo: request.content.userInfo)
      Task { _ = try? await note(report, of: push) }
    }
  }
#endif
