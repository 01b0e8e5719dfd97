public import Delivery

extension APNSClient {
  /// Sends batches as they come and gives back their outcomes, in the order of the batches.
  ///
  /// Back-pressure both ways: a batch is taken from `batches` only while fewer than `ahead` are being sent or wait to be
  /// looked at, so memory stays bounded however long the sequence is and however slowly its outcomes are read. Leaving
  /// the loop early stops taking batches; what already left gets its answer. An error of `batches` is thrown after the
  /// outcomes of what came before it.
  public nonisolated func outcomes<Batches: AsyncSequence & Sendable>(
    of batches: Batches, ahead: Int = 2
  ) -> PushOutcomes<[OutgoingPush]> where Batches.Element == [OutgoingPush] {
    outcomes(of: batches, ahead: ahead) { client, batch in await client.send(batch) }
  }

  /// The same for batches that lie ready in memory.
  public nonisolated func outcomes<Batches: AsyncSequence & Sendable>(
    of batches: Batches, ahead: Int = 2
  ) -> PushOutcomes<PushBatch> where Batches.Element == PushBatch {
    outcomes(of: batches, ahead: ahead) { client, batch in await client.send(batch) }
  }

  private nonisolated func outcomes<Batches: AsyncSequence & Sendable>(
    of batches: Batches, ahead: Int, send: @escaping @Sendable (APNSClient, Batches.Element) async -> [PushOutcome]
  ) -> PushOutcomes<Batches.Element> where Batches.Element: Sendable {
    let window = PushWindow<Batches.Element>(size: ahead)
    let producer = Task {
      do {
        for try await batch in batches {
          guard let turn = await window.enter() else { return }
          Task {
            let outcomes = await send(self, batch)
            await window.put(turn, SentBatch(pushes: batch, outcomes: outcomes))
          }
        }
        await window.end(nil)
      } catch {
        await window.end(error)
      }
    }
    return PushOutcomes(window: window, producer: producer)
  }
}

/// A batch with what became of it; `outcomes` has one for each push, in the same order.
public struct SentBatch<Pushes: Sendable>: Sendable {
  public let pushes: Pushes
  public let outcomes: [PushOutcome]
}

/// The outcomes of a sequence of batches; to be read once.
public struct PushOutcomes<Pushes: Sendable>: AsyncSequence, Sendable {
  let window: PushWindow<Pushes>
  let producer: Task<Void, Never>

  public func makeAsyncIterator() -> Iterator { Iterator(guardian: Guardian(window: window, producer: producer)) }

  public struct Iterator: AsyncIteratorProtocol {
    let guardian: Guardian

    public mutating func next() async throws -> SentBatch<Pushes>? {
      let guardian = guardian
      return try await withTaskCancellationHandler {
        try await guardian.window.next()
      } onCancel: {
        guardian.stop()
      }
    }
  }

  /// Stops the producer when the reader goes away.
  final class Guardian: Sendable {
    let window: PushWindow<Pushes>
    private let producer: Task<Void, Never>

    init(window: PushWindow<Pushes>, producer: Task<Void, Never>) {
      self.window = window
      self.producer = producer
    }

    func stop() {
      producer.cancel()
      Task { [window] in await window.abandon() }
    }

    deinit { stop() }
  }
}

/// The batches between the producer and the reader, at most `size` of them.
actor PushWindow<Pushes: Sendable> {
  private let size: Int
  private var entered = 0
  private var read = 0
  private var done: [Int: SentBatch<Pushes>] = [:]
  private var ended = false
  private var fault: (any Error)?
  private var isAbandoned = false
  private var producer: CheckedContinuation<Void, Never>?
  private var reader: CheckedContinuation<Void, Never>?

  init(size: Int) { self.size = max(1, size) }

  /// The producer's turn number; nil when the reader has gone.
  func enter() async -> Int? {
    while entered - read >= size, !isAbandoned { await withCheckedContinuation { producer = $0 } }
    guard !isAbandoned else { return nil }
    defer { entered += 1 }
    return entered
  }

  func put(_ turn: Int, _ batch: SentBatch<Pushes>) {
    done[turn] = batch
    wakeReader()
  }

  func end(_ fault: (any Error)?) {
    ended = true
    self.fault = fault
    wakeReader()
  }

  /// One reader at a time.
  func next() async throws -> SentBatch<Pushes>? {
    while true {
      if let batch = done.removeValue(forKey: read) {
        read += 1
        wakeProducer()
        return batch
      }
      if isAbandoned { return nil }
      if ended, read == entered {
        if let fault {
          self.fault = nil
          throw fault
        }
        return nil
      }
      await withCheckedContinuation { reader = $0 }
    }
  }

  func abandon() {
    isAbandoned = true
    wakeProducer()
    wakeReader()
  }

  private func wakeReader() {
    reader?.resume()
    reader = nil
  }

  private func wakeProducer() {
    producer?.resume()
    producer = nil
  }
}
