#if canImport(UserNotifications) && (os(iOS) || os(macOS) || os(visionOS))
  internal import Foundation
  public import UserNotifications

  /// A notification service extension that reports pushes as received and shows their attachments. Subclass it, and answer
  /// `configuration`; the push needs `mutable-content`.
  open class BelfryNotificationService: UNNotificationServiceExtension {
    /// The same as the app's, with a folder of the app group that both belong to.
    open var configuration: Belfry.Configuration? { nil }

    /// The last word on what is shown, before the attachments come.
    open func prepare(_ content: UNMutableNotificationContent) {}

    private let showing = Showing()

    open override func didReceive(
      _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
      let content = request.content.mutableCopy() as? UNMutableNotificationContent ?? UNMutableNotificationContent()
      prepare(content)
      showing.begin(content, contentHandler)
      guard let configuration else { return showing.show([]) }
      let push = PushInfo(userInfo: request.content.userInfo)
      showing.work = Task { [showing] in
        showing.show(await PushExtension(configuration, transport: URLSessionTransport()).received(push))
      }
    }

    /// The time is up: what is complete is shown.
    open override func serviceExtensionTimeWillExpire() {
      showing.work?.cancel()
      showing.show([])
    }

    /// Shows once, whoever comes first.
    private final class Showing: @unchecked Sendable {  // guarded by `lock`; `work` is the extension's own
      private let lock = NSLock()
      private var content: UNMutableNotificationContent?
      private var handler: ((UNNotificationContent) -> Void)?
      var work: Task<Void, Never>?

      func begin(_ content: UNMutableNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
        lock.withLock { (self.content, self.handler) = (content, handler) }
      }

      func show(_ files: [URL]) {
        let (content, handler) = lock.withLock {
          defer { (self.content, self.handler) = (nil, nil) }
          return (self.content, self.handler)
        }
        guard let content, let handler else { return }
        content.attachments += files.compactMap { try? UNNotificationAttachment(identifier: "", url: $0) }
        handler(content)
      }
    }
  }
#endif
