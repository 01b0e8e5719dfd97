internal import Basics

/// Brings pushes to phones in the same process. Over the wire `/courier` on the control port does the same.
public struct Courier: Sendable {
  let core: SimulatorCore

  /// Comes for a device: what waits is handed over before this returns, later pushes as they arrive. `onPush` is called
  /// on the thread of the provider's connection and must return at once; a push counts as delivered when it returned. A
  /// courier that came before for the same device gets nothing more.
  @discardableResult
  public func connect(device: String, onPush: @escaping @Sendable (DeliveredPush) -> Void) -> CourierConnection {
    let core = core
    let number = core.connect(
      device: device,
      deliver: { handover in
        onPush(handover.push)
        core.acknowledge(device: device, number: handover.number)
      },
      replaced: {})
    return CourierConnection(core: core, device: device, number: number)
  }

  /// Takes the phone off the network or puts it back; what waits is handed over before this returns.
  public func setOnline(device: String, _ isOnline: Bool) { core.setOnline(device: device, isOnline) }

  /// The token of an app on a device: the same as before while the app stays installed. `isFresh`, for an app that was
  /// installed again, makes a new one; the former lives on unless `uninstall` ended it.
  public func issueToken(
    device: String, bundle: String, environment: SimulatedEnvironment, kind: TokenKind = .app, isFresh: Bool = false
  ) -> [UInt8] {
    let owner = TokenRecord.Owner(device: device, bundleID: bundle, environment: environment, kind: kind)
    return core.withState { state, _ in state.issueToken(to: owner, isFresh: isFresh).bytes }
  }

  /// The app was removed: all its tokens on the device die. The next push to each is still taken, 410 comes later.
  public func uninstall(device: String, bundle: String) {
    core.withState { state, now in _ = state.uninstall(device: device, bundleID: bundle, now: now) }
  }
}

/// A courier's stay at a device; ends with `disconnect`, not by being forgotten.
public struct CourierConnection: Sendable {
  let core: SimulatorCore
  let device: String
  let number: UInt64

  /// The phone is away from now on. Does nothing when another courier has come since.
  public func disconnect() { core.disconnect(device: device, number: number) }
}
