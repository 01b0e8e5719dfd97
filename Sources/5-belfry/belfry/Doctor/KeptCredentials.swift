import APNSClient
import Audience
import Basics
import PushService
import Store
import StoreSQLite

/// The apps of a data folder, and the credentials that the service keeps for them; it may be running.
struct KeptCredentials {
  struct Entry {
    var app: AppRecord
    var id: Int64
    var environments: Set<APNSEnvironment>
    var credential: Credential
  }

  var apps: [AppRecord] = []
  /// By app key, of those that have one, whether it opens or not.
  var owners: Set<String> = []
  var entries: [Entry] = []
  var trouble: [DoctorCheck] = []

  /// Makes neither a database nor a sealing key.
  static func read(_ folder: String, environment: [String: String]) async -> KeptCredentials {
    var kept = KeptCredentials()
    guard StoreSQLite.exists(inFolder: folder) else { return kept }
    do {
      let source = SealingKey.Source(environment)
      let isThere = source != .dataFolder || Files.stamp(SealingKey.file(inFolder: folder)) != nil
      let opened = try await FolderService.open(
        folder, sealing: isThere ? try SealingKey.read(source, dataFolder: folder) : nil)
      do { try await kept.read(opened) } catch {
        await opened.store.close()
        throw error
      }
      await opened.store.close()
    } catch {
      kept.trouble.append(.init(.warn, .configuration, folder, "its apps cannot be read: \(error)", nil))
    }
    return kept
  }

  private mutating func read(_ opened: FolderService) async throws {
    apps = try await opened.service.apps()
    let stored = try await opened.store.credentials()
    owners = Set(apps.filter { app in stored.contains { $0.app == app.id } }.map(\.key))
    guard !stored.isEmpty else { return }
    do throws(RequestFault) {
      for open in try await opened.service.openCredentials() {
        guard let entry = try? Senders.entries([open], ProviderKeys()).first else { continue }
        entries.append(
          Entry(app: open.app, id: open.view.id, environments: entry.environments, credential: entry.credential))
      }
    } catch {
      trouble.append(.init(.fail, .file, "sealing key", error.found, error.remedy))
    }
  }
}
