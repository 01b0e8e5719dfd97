#if canImport(UserNotifications)
  import BelfryKit

  final class NotificationService: BelfryNotificationService {
    override var configuration: Belfry.Configuration? { Push.configuration }
  }
#endif
