internal import Basics
public import PushPayload

/// Brings pushes to phones in the same process. Over the wire `/courier` on the control port does the same.
public struct Courier: Sendable {
  let core: SimulatorCore

  /// Comes for a device: what waits is handed over before this returns, later pushes as they arrive. `onPush` is called
  /// on the thread of the provider's connection and must return at once; a push counts as delivered when it returned. A
  /// courier that came before for the same device gets nothing more. `keepsBudget` is for a phone that counts its
  /// background pushes by itself: none is held back for it; `keepsActivities` for one that follows its Live Activities
  /// by itself: the simulator starts none for it. `onRenewal` tells of tokens that took the place of others, `onFate` of
  /// what became of pushes that did not arrive.
  @discardableResult
  public func connect(
    device: String, keepsBudget: Bool = false, keepsActivities: Bool = false,
    onRenewal: @escaping @Sendable ([TokenRenewal]) -> Void = { _ in },
    onFate: (@Sendable (PushNews) -> Void)? = nil, onPush: @escaping @Sendable (DeliveredPush) -> Void
  ) -> CourierConnection {
    let core = core
    var end = CourierEnd { [weak core] handover, courier in  // which keeps this
      var next: ServiceState.Handover? = handover
      while let handover = next {
        onPush(handover.push)
        next = core?.acknowledge(device: device, number: handover.number, courier: courier)
      }
    }
    end.keepsBudget = keepsBudget
    end.keepsActivities = keepsActivities
    end.fated = onFate
    end.renewed = onRenewal
    return CourierConnection(core: core, device: device, number: core.connect(device: device, end))
  }

  /// Takes the phone off the network or puts it back; what waits is handed over before this returns.
  public func setOnline(device: String, _ isOnline: Bool) { core.setOnline(device: device, isOnline) }

  /// Puts the phone to sleep, wakes it, or lets it save power; what may go is handed over before this returns.
  public func setPower(device: String, _ power: PhonePower) { core.setPower(device: device, power) }

  /// No budget of background pushes for the phone, as when its app is run from Xcode.
  public func setUnlimited(device: String, _ isUnlimited: Bool) { core.setUnlimited(device: device, isUnlimited) }

  /// Gives every app on the device, or the one named, another token in the place of each that it has. The old ones die as
  /// if the app had been removed.
  @discardableResult
  public func renewTokens(
    device: String, bundle: String? = nil, reason: RenewalReason, isToldAtOnce: Bool = false
  ) -> [TokenRenewal] {
    core.renewTokens(device: device, bundleID: bundle, reason: reason, isToldAtOnce: isToldAtOnce)
  }

  /// The token of an app on a device: the same as before while the app stays installed. `isFresh`, for an app that was
  /// installed again, makes a new one; the former lives on unless `uninstall` ended it. `detail` tells the tokens of Live
  /// Activities apart: the attributes type of a push-to-start token, the activity of an update token.
  public func issueToken(
    device: String, bundle: String, environment: SimulatedEnvironment, kind: TokenKind = .app, detail: String = "",
    isFresh: Bool = false
  ) -> [UInt8] {
    let owner = TokenRecord.Owner(
      device: device, bundleID: bundle, environment: environment, kind: kind, detail: detail)
    return core.withState { state, _ in state.issueToken(to: owner, isFresh: isFresh).bytes }
  }

  /// One token has had its time while its app stays. The next push to it is still taken, 410 with `reason` comes later.
  /// False for a token that nobody has.
  @discardableResult
  public func endToken(_ token: [UInt8], reason: RefusalReason = .expiredToken) -> Bool {
    core.withState { state, now in
      state.end(token, reason: reason, since: now, isToldAtOnce: false, now: now) != nil
    }
  }

  /// The user turned an app's notifications off, or on again. APNs learns of it as soon as the phone can be reached;
  /// from then on alert pushes for the app are taken with 200 and dropped, those that waited too. (Apple, "Viewing the
  /// status of push notifications using Metrics and APNs": discarded, disabled)
  public func setAlertsAllowed(device: String, bundle: String, _ isAllowed: Bool) {
    core.setAlertsAllowed(device: device, bundleID: bundle, isAllowed)
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
