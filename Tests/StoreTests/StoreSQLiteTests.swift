import Audience
import Basics
import BelfryTesting
import Foundation
import Store
import StoreSQLite
import Testing

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.path + "/belfry-test-\(UUID().uuidString)"
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// What a killed process would leave.
  func snapshot() throws -> TemporaryFolder {
    let copy = TemporaryFolder()
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }
}

@Suite("The embedded store")
struct StoreSQLiteTests {
  let folder = TemporaryFolder()

  @Test("keeps the promises of the contract", arguments: StoreConformance.cases)
  func promises(promise: ConformanceCase<any Store>) async throws {
    let store = try await StoreSQLite.open(folder: folder.path)
    try await promise.check(store)
    await store.close()
  }
}
