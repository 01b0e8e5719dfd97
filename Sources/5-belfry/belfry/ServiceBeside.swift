import PushService
import StoreSQLite

/// A service on a data folder that a running `belfry serve` may have open: for one short change.
enum ServiceBeside {
  static let dataOption = ServeConfiguration.options.first { $0.name == "data" }!

  /// The folder that `--data` names, made when it is not there. A refusal is told with the option that it is about:
  /// `options` names that by the place of the fault.
  static func run<Result: Sendable>(
    _ parsed: ParsedCommand, options: [String: String] = [:],
    _ body: (PushService) async throws(RequestFault) -> Result
  ) async throws -> (result: Result, folder: String) {
    let opened = try await FolderService.open(parsed, isMade: true)
    let result: Result
    do throws(RequestFault) {
      result = try await body(opened.service)
    } catch {
      await opened.store.close()
      let option = error.place.flatMap { options[$0] }.map { "\($0): " } ?? ""
      throw CommandFault("\(option)\(error.found). \(error.remedy)")
    }
    await opened.store.close()
    return (result, opened.folder)
  }
}
