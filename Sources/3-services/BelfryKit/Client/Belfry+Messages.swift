/// In-app messages: each is given once, in the order in which the service took them.
extension Belfry {
  /// What comes, from what waited on. An event counts as handled when the loop comes for the next one: one that the app was
  /// given, and had not finished when its process ended, is given again after the next start, with the same id. A loop that
  /// is left by `break` has not handled its last event.
  ///
  /// One loop at a time: a new one takes the older one's place, which ends.
  ///
  ///     for await event in belfry.messages {
  ///       switch event {
  ///       case .message(let message): await chat.show(message)
  ///       case .withdrawn(let id): await chat.remove(id)
  ///       }
  ///     }
  public nonisolated var messages: Messages { Messages(belfry: self) }

  public struct Messages: AsyncSequence, Sendable {
    public typealias Element = MessageEvent

    let belfry: Belfry

    public func makeAsyncIterator() -> Iterator { Iterator(belfry: belfry) }

    public struct Iterator: AsyncIteratorProtocol {
      let belfry: Belfry
      private var reader: Int?
      private var given: Int64?

      init(belfry: Belfry) { self.belfry = belfry }

      /// nil: the task was cancelled, the library closed, or another loop has begun.
      public mutating func next() async -> MessageEvent? {
        let number: Int
        if let reader { number = reader } else { number = await belfry.newReader() }
        reader = number
        let waiting = await belfry.next(handled: given, reader: number)
        given = waiting?.position
        return waiting?.event
      }
    }
  }

  func newReader() -> Int {
    reader += 1
    wakeReader()
    return reader
  }

  func next(handled: Int64?, reader number: Int) async -> AppStore.Waiting? {
    var handled = handled
    while !Task.isCancelled, !isClosed || handled != nil {
      let before = arrivals
      do throws(BelfryFault) {
        guard number == reader, !isClosed else {
          if let handled { try await store.forget(handled) }
          return nil
        }
        if let waiting = try await store.next(handled: handled) { return waiting }
        handled = nil
      } catch {
        // a disk that is full now may have room later; what was handled stays to be said
        try? await clock.sleep(milliseconds: 1000)
        continue
      }
      await waitForArrival(after: before, number)
    }
    return nil
  }

  private func waitForArrival(after before: Int, _ number: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        guard arrivals == before, number == reader, !isClosed, !Task.isCancelled else { return waiting.resume() }
        readerWaits = waiting
      }
    } onCancel: {
      Task { await wakeReader() }
    }
  }

  func wakeReader() {
    arrivals += 1
    readerWaits?.resume()
    readerWaits = nil
  }

  /// Messages that the app has not handled yet.
  public func waitingCount() async throws(BelfryFault) -> Int {
    try await store.waitingCount()
  }

  /// A page of everything that this device was ever sent and the service still keeps. Throws `notConnected` without a
  /// connection, or when it ends before the answer.
  public func history(_ query: HistoryQuery = HistoryQuery()) async throws(BelfryFault) -> HistoryPage {
    var query = query
    query.limit = min(max(query.limit, 1), 100)
    lastRequest += 1
    let request = lastRequest
    let page = await withCheckedContinuation { (answer: CheckedContinuation<HistoryPage?, Never>) in
      waitingForHistory[request] = answer
      Task { await handle(.history(request: request, query)) }
    }
    guard let page else { throw BelfryFault(.notConnected, "There is no connection for messages: \(status).") }
    return page
  }

  /// The user has read them. Kept until the service has it, so that it may be said without a network. Their notifications may
  /// go from the centre, those that come late too (`toRemove(of:)`).
  public func markRead(_ ids: [String]) async throws(BelfryFault) {
    try await store.noteRead(ids)
    await sayRead()
  }

  /// Of pushes that are shown, those that are to be shown no more: their messages were read, as far as the last 2,048 are
  /// remembered. `shown` are ids as `_j_msgid` has them. On iOS `removeReadNotifications()` asks and removes.
  public func toRemove(of shown: [String]) async throws(BelfryFault) -> [String] { try await store.read(of: shown) }
}
