internal import Foundation

/// What the library remembers between two lives of the app's process, in one file. Each call is one transaction: after it
/// returned, no kill undoes it; before, nothing of it was done. Any task may call; calls take effect in their order.
final class AppStore: @unchecked Sendable {  // guarded by `queue`
  private let queue = DispatchQueue(label: "belfry.app-store")
  private let database: Database

  /// So many ids of messages are remembered, for the case that the service sends one again after its own backup was put back.
  static let mostSeen = 4096
  /// Reports about pushes, so that one is said once however often the system calls back.
  static let mostReports = 2048

  /// Messages that the user has read, so that their late notifications are known.
  static let mostRead = 2048

  /// In a folder that must be there.
  init(folder: URL) throws {
    database = try Database(folder.appendingPathComponent("belfry-kit.sqlite").path)
    try database.transaction { () throws(DatabaseFault) in try AppStoreSchema.bring(database) }
  }

  func perform<Answer: Sendable>(
    _ body: @escaping @Sendable (Database) throws(DatabaseFault) -> Answer
  ) async throws(BelfryFault) -> Answer {
    let result: Result<Answer, DatabaseFault> = await withCheckedContinuation { done in
      queue.async { [self] in
        do throws(DatabaseFault) {
          done.resume(returning: .success(try database.transaction { () throws(DatabaseFault) in try body(database) }))
        } catch {
          done.resume(returning: .failure(error))
        }
      }
    }
    do throws(DatabaseFault) { return try result.get() } catch { throw BelfryFault(error) }
  }
}
