#if canImport(UIKit)
  import BelfryKit
  import UIKit
  import UserNotifications

  @main
  final class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    private var observer: ApplicationObserver?
    private let chat = Chat(Push.belfry)

    func application(
      _ application: UIApplication,
      didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
      observer = Push.belfry.observeApplication()
      UNUserNotificationCenter.current().delegate = self
      Task { await chat.follow() }
      application.registerForRemoteNotifications()
      Task {
        let allowed = try? await UNUserNotificationCenter.current().requestAuthorization(options: [
          .alert, .badge, .sound,
        ])
        var facts = DeviceFacts.ofThisDevice
        facts.permission = allowed == true ? .authorized : .denied
        await Push.belfry.tell(facts)
      }
      return true
    }

    func application(
      _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
      Push.belfry.didRegister(deviceToken: deviceToken)
    }

    func application(
      _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
      print("no token: \(error)")
    }

    func application(
      _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
      fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
      let push = PushInfo(userInfo: userInfo)
      Task {
        await Push.belfry.didReceiveRemoteNotification(push)
        completionHandler(.newData)
      }
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
      Push.belfry.setBadgeAndIcon(0)
      Task { await Push.belfry.removeReadNotifications() }
    }

    nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
      withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
      Push.belfry.willPresent(notification)
      completionHandler([])  // the message of the same push fills the screen
    }

    nonisolated func userNotificationCenter(
      _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
      withCompletionHandler completionHandler: @escaping () -> Void
    ) {
      Push.belfry.didReceive(response)
      completionHandler()
    }
  }
#endif
