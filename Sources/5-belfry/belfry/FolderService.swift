import APNSClient
import Basics
import Bus
import PushService
import StoreSQLite
import Transport

/// The use cases on a data folder, beside a `belfry serve` that may run on it: it sees each change at once.
struct FolderService {
  let folder: String
  let store: StoreSQLite
  let service: PushService

  static let appOption = Command.Option(
    name: "app", value: "KEY", help: "The app's key; needed when there is more than one")

  /// What `--data` names, or the usual one.
  static func folder(_ parsed: ParsedCommand) -> String {
    parsed.value("data") ?? standardDataFolder(processEnvironment())
  }

  /// The same, of a service that was there before.
  static func existingFolder(_ parsed: ParsedCommand) throws(CommandFault) -> String {
    let folder = folder(parsed)
    guard StoreSQLite.exists(inFolder: folder) else {
      throw CommandFault("\(folder): no data folder of Belfry; --data names the one of 'belfry serve'")
    }
    return folder
  }

  /// - Parameters:
  ///   - isMade: whether a folder that has no database becomes one that has; else that is a fault.
  ///   - seals: whether secrets are to be kept that must be read again.
  static func open(
    _ parsed: ParsedCommand, isMade: Bool = false, seals: Bool = false
  ) async throws -> FolderService {
    let folder = isMade ? folder(parsed) : try existingFolder(parsed)
    if isMade { try Files.makeFolder(folder) }
    let sealing =
      seals ? try SealingKey.read(SealingKey.Source(processEnvironment()), dataFolder: Files.absolute(folder)) : nil
    return try await open(folder, sealing: sealing)
  }

  /// - Parameter sealing: for secrets that are to be kept or read.
  static func open(_ folder: String, sealing: SealingKey?) async throws -> FolderService {
    let store: StoreSQLite
    do { store = try await StoreSQLite.openBeside(folder: folder) } catch {
      throw CommandFault(dataFolder: folder, error)
    }
    return FolderService(folder, store, sealing: sealing)
  }

  init(_ folder: String, _ store: StoreSQLite, sealing: SealingKey?) {
    let clock = SystemClock()
    self.folder = folder
    self.store = store
    service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 0, senders: { _, _ in nil },
      sealing: sealing, credentialReader: CredentialFiles())
  }

  /// Opens, and closes also when `body` throws. A fault of the service becomes one of the command.
  static func with<Result: Sendable>(
    _ parsed: ParsedCommand, isMade: Bool = false, seals: Bool = false,
    _ body: (FolderService) async throws -> Result
  ) async throws -> Result {
    let opened = try await open(parsed, isMade: isMade, seals: seals)
    do {
      let result = try await AuditContext.$current.withValue(.ofCommand) { try await body(opened) }
      await opened.store.close()
      return result
    } catch {
      await opened.store.close()
      if let fault = error as? RequestFault { throw CommandFault("\(fault)") }
      throw error
    }
  }

  /// The app that `--app` names, or the only one.
  func app(_ parsed: ParsedCommand) async throws -> AppRecord {
    let apps = try await service.apps()
    if let given = parsed.value("app") {
      let key = given.prefix { $0 != ":" }  // as for a server, KEY:SECRET
      guard let app = apps.first(where: { $0.key == key }) else {
        throw CommandFault("--app: the data folder \(folder) has no app '\(key.prefix(40))'; see 'belfry apps list'")
      }
      return app
    }
    guard let first = apps.first else { throw CommandFault("there is no app yet; see 'belfry help app create'") }
    guard apps.count == 1 else {
      throw UsageFault("'--app' is missing: there are \(apps.count) apps; see 'belfry apps list'")
    }
    return first
  }
}
