import Dispatch
import Store

/// A connection that reads, on a queue of its own, so that an audience over millions never holds up the writer.
final class Reader: @unchecked Sendable {  // `database` is touched on `queue` only
  private let queue = DispatchQueue(label: "belfry.store.reader", qos: .userInitiated)
  private var database: Database?

  init(_ database: consuming sending Database) { self.database = database }

  /// Sees one state throughout: the last that was committed before it began.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws(StoreFault) -> Result
  ) async throws(StoreFault) -> Result {
    let answer: Swift.Result<Result, StoreFault> = await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: read(body)) }
    }
    return try answer.get()
  }

  private func read<Result>(
    _ body: (Database) throws(StoreFault) -> Result
  ) -> Swift.Result<Result, StoreFault> {
    guard let database else { return .failure(.closed) }
    do throws(StoreFault) {
      try database.run("BEGIN")
      let result = try body(database)
      try database.run("COMMIT")
      return .success(result)
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      return .failure(error)
    }
  }

  func close() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        database = nil
        continuation.resume()
      }
    }
  }
}
