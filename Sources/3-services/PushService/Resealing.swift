import Basics
import Store

extension PushService {
  /// Seals all secrets that must be read again under the newest of the sealing keys. Faults, and changes nothing, when one
  /// does not open.
  public func reseal() async throws(RequestFault) {
    guard let sealing else {
      throw RequestFault(
        .temporarilyUnavailable, found: "this process has no sealing key", remedy: "Ask one that runs the service.")
    }
    let closed = Locked<SealedSecret?>(nil)
    let note = AuditNote(.sealingKeyRenewed, at: clock.now, subject: nil)
    let isDone = try await faulting(
      as: .push,
      await store.reseal(audit: note) { secret, bytes in
        guard let open = sealing.open(bytes, for: secret.purpose) else {
          closed.withLock { $0 = $0 ?? secret }
          return nil
        }
        return sealing.seal(open, for: secret.purpose)
      })
    guard !isDone, let secret = closed.withLock({ $0 }) else { return }
    throw RequestFault(
      .conflict, found: "\(secret.words) was sealed under another key",
      remedy: "Give the sealing key that it was kept with as well, or remove it.")
  }
}

extension SealedSecret {
  fileprivate var purpose: SealingKey.Purpose {
    switch self {
    case .credential: .credential
    case .webhook, .formerOfWebhook: .webhookSecret
    }
  }

  fileprivate var words: String {
    switch self {
    case .credential(let id): "credential \(id)"
    case .webhook(let id): "the secret of webhook \(id)"
    case .formerOfWebhook(let id): "the former secret of webhook \(id)"
    }
  }
}
