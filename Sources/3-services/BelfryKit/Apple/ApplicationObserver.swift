#if canImport(UIKit) && !os(watchOS)
  public import Foundation
  internal import Network
  internal import UIKit

  /// Tells a `Belfry` of the application's states and of the network, for as long as it is kept. Made by
  /// `Belfry.observeApplication()`.
  @MainActor
  @available(iOSApplicationExtension, unavailable)
  public final class ApplicationObserver {
    private enum Change: Sendable {
      case foreground
      case background
      case network(NetworkChange)
    }

    private let following: Following

    fileprivate init(_ belfry: Belfry) {
      let (stream, changes) = AsyncStream<Change>.makeStream()
      // one task, so that they are told in the order in which they happen
      Task {
        for await change in stream {
          switch change {
          case .foreground: await belfry.enterForeground()
          case .background: await belfry.enterBackground()
          case .network(let change): await belfry.networkChanged(change)
          }
        }
      }
      // an app that is launched for a push in the background is not in front
      if UIApplication.shared.applicationState != .background { changes.yield(.foreground) }
      following = Following(changes)
    }

    /// Ends with the observer.
    private final class Following: @unchecked Sendable {  // complete before anyone else sees it
      private let changes: AsyncStream<Change>.Continuation
      private let monitor = NWPathMonitor()
      private let tokens: [any NSObjectProtocol]

      init(_ changes: AsyncStream<Change>.Continuation) {
        self.changes = changes
        tokens = [
          (UIApplication.willEnterForegroundNotification, Change.foreground),
          (UIApplication.didEnterBackgroundNotification, Change.background),
        ].map { name, change in
          NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in changes.yield(change) }
        }
        let former = Former()
        monitor.pathUpdateHandler = { path in
          let isThere = path.status == .satisfied
          let way = path.availableInterfaces.first?.name
          defer { (former.isThere, former.way) = (isThere, way) }
          if !isThere {
            changes.yield(.network(.lost))
          } else if former.isThere == false {
            changes.yield(.network(.available))
          } else if former.isThere == true, former.way != way {
            changes.yield(.network(.changed))
          }
        }
        monitor.start(queue: DispatchQueue(label: "belfry.network"))
      }

      deinit {
        monitor.cancel()
        changes.finish()
        for token in tokens { NotificationCenter.default.removeObserver(token) }
      }
    }

    /// The path before. The first one is no change: it says what there is.
    private final class Former: @unchecked Sendable {  // guarded by the monitor's queue
      var isThere: Bool?
      var way: String?
    }
  }

  @available(iOSApplicationExtension, unavailable)
  extension Belfry {
    /// Follows the application from now on. Call it in `application(_:didFinishLaunchingWithOptions:)`, and keep what it
    /// answers.
    @MainActor
    public func observeApplication() -> ApplicationObserver { ApplicationObserver(self) }

    /// Call it in `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`. What fails is tried again by itself.
    public nonisolated func didRegister(deviceToken: Data) {
      let token = [UInt8](deviceToken)
      Task { try? await register(token: token, environment: .ofThisBuild) }
    }

    /// The number at the icon, and the one that a push's "+1" counts from: an app that sets only one of them sees it jump.
    @MainActor
    public func setBadgeAndIcon(_ badge: Int) {
      UIApplication.shared.applicationIconBadgeNumber = badge
      Task { try? await setBadge(badge) }
    }
  }
#endif
