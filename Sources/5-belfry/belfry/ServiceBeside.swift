import Bus
import PushService
import StoreSQLite
import Transport

/// A service on a data folder that a running `belfry serve` may have open: for one short change.
enum ServiceBeside {
  static let dataOption = ServeConfiguration.options.first { $0.name == "data" }!

  /// The folder that `--data` names, made when it is not there. A refusal is told with the option that it is about:
  /// `options` names that by the place of the fault.
  static func run<Result: Sendable>(
    _ parsed: ParsedCommand, options: [String: String] = [:],
    _ body: (PushService) async throws(RequestFault) -> Result
  ) async throws -> (result: Result, folder: String) {
    let folder = parsed.value("data") ?? standardDataFolder(processEnvironment())
    try Files.makeFolder(folder)
    let store: StoreSQLite
    do { store = try await StoreSQLite.openBeside(folder: folder) } catch {
      throw CommandFault(dataFolder: folder, error)
    }
    let clock = SystemClock()
    let service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 0, senders: { _, _ in nil })
    let result: Result
    do throws(RequestFault) {
      result = try await body(service)
    } catch {
      await store.close()
      let option = error.place.flatMap { options[$0] }.map { "\($0): " } ?? ""
      throw CommandFault("\(option)\(error.found). \(error.remedy)")
    }
    await store.close()
    return (result, folder)
  }
}
