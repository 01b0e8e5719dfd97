import Basics
import Dispatch
import Store

/// The one connection that writes, on a queue of its own. What waits is committed together: one sync of the disk for
/// all, each operation still whole or not at all.
final class Writer: @unchecked Sendable {  // `database` and `isClosed` are touched on `queue` only
  private let queue = DispatchQueue(label: "belfry.store.writer", qos: .userInitiated)
  private let pending = Locked(Pending())
  private let follower = Locked<(@Sendable (InboxNews) -> Void)?>(nil)
  private var database: Database?

  /// At most this many operations share a commit, so that the first does not wait for ever.
  private static let groupLimit = 256

  init(_ database: consuming sending Database) { self.database = database }

  func run<Result: Sendable>(
    _ body: @escaping @Sendable (Database) throws(StoreFault) -> Result
  ) async throws(StoreFault) -> Result {
    let answer: Swift.Result<Result, StoreFault> = await withCheckedContinuation { continuation in
      var result: Result?
      var announcements: [InboxNews] = []
      enqueue(
        Job { database throws(StoreFault) in
          database.announcements = []
          result = try body(database)
          swap(&announcements, &database.announcements)
        } finish: { [follower] fault in
          if let fault { return continuation.resume(returning: .failure(fault)) }
          if !announcements.isEmpty, let tell = follower.withLock({ $0 }) { announcements.forEach(tell) }
          continuation.resume(returning: result.map { .success($0) } ?? .failure(.closed))
        })
    }
    return try answer.get()
  }

  /// `body` is told of what operations announced, on the queue, in the order of their commits.
  func follow(_ body: @escaping @Sendable (InboxNews) -> Void) { follower.withLock { $0 = body } }

  /// Settings of the connection, outside of any transaction.
  func configure(_ sql: String) async throws(StoreFault) {
    let answer: Swift.Result<Void, StoreFault> = await withCheckedContinuation { continuation in
      queue.async { [self] in
        do throws(StoreFault) {
          guard let database else { throw .closed }
          try database.execute(sql)
          continuation.resume(returning: .success(()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    try answer.get()
  }

  func close() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        database = nil
        continuation.resume()
      }
    }
  }

  // MARK: Groups

  private struct Job: @unchecked Sendable {  // made by one task, touched on `queue` only from then on
    var run: (Database) throws(StoreFault) -> Void
    var finish: (StoreFault?) -> Void
  }

  private struct Pending {
    var jobs: [Job] = []
    var isScheduled = false
  }

  private func enqueue(_ job: Job) {
    let schedule = pending.withLock { pending in
      pending.jobs.append(job)
      defer { pending.isScheduled = true }
      return !pending.isScheduled
    }
    if schedule { queue.async { [self] in drain() } }
  }

  private func drain() {
    while true {
      let jobs: [Job] = pending.withLock { pending in
        let group = Array(pending.jobs.prefix(Self.groupLimit))
        pending.jobs.removeFirst(group.count)
        pending.isScheduled = !group.isEmpty
        return group
      }
      if jobs.isEmpty { return }
      var rest = jobs[...]
      while !rest.isEmpty { commit(&rest) }
    }
  }

  /// Takes jobs from the front into one transaction and ends them all. A fault of one rolls back that one; a fault that
  /// rolls back everything (a full disk may) is everyone's so far, and the rest gets a new transaction.
  private func commit(_ jobs: inout ArraySlice<Job>) {
    guard let database else {
      for job in jobs { job.finish(.closed) }
      return jobs.removeAll()
    }
    if database.isDisplaced {
      let fault = StoreFault.unavailable("its file was removed or replaced; put it back, or start Belfry again")
      for job in jobs { job.finish(fault) }
      return jobs.removeAll()
    }
    var done: [Job] = []
    var hasBegun = false
    do throws(StoreFault) {
      try database.run("BEGIN IMMEDIATE")
      hasBegun = true
      while let job = jobs.popFirst() {
        do throws(StoreFault) {
          try database.run("SAVEPOINT job")
          try job.run(database)
          try database.run("RELEASE job")
          done.append(job)
        } catch {
          job.finish(error)
          guard database.isInTransaction else { throw error }
          try database.run("ROLLBACK TO job")
          try database.run("RELEASE job")
        }
      }
      try database.run("COMMIT")
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      if !hasBegun, let first = jobs.popFirst() { first.finish(error) }  // so that the others' turn comes
      for job in done { job.finish(error) }
      return
    }
    for job in done { job.finish(nil) }
  }
}
