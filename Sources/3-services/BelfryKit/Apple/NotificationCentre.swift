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
    /// centre what the service asks to show no more.
    public nonisolated func didReceiveRemoteNotification(_ push: PushInfo) async {
      _ = try? await note(.received, of: push)
      if let withdrawn = push.withdrawn { await Self.removeDelivered([withdrawn]) }
    }

    /// The user has read them in the app: their notifications go from the centre, also those that come later, once the app
    /// runs again.
    public nonisolated func markReadAndRemove(_ ids: [String]) async throws(BelfryFault) {
      try await markRead(ids)
      await Self.removeDelivered(ids)
    }

    /// Notifications of these pushes, by their `_j_msgid`.
    public static func removeDelivered(_ messageIDs: [String]) async {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        UNUserNotificationCenter.current().getDeliveredNotifications { delivered in
          let meant = delivered.filter { notification in
            PushInfo(userInfo: notification.request.content.userInfo).messageID.map(messageIDs.contains) ?? false
          }
          UNUserNotificationCenter.current().removeDeliveredNotifications(
            withIdentifiers: meant.map(\.request.identifier))
          done.resume()
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
