import PushService

/// A service on a data folder that a running `belfry serve` may have open: for one short change.
enum ServiceBeside {
  static let dataOption = ServeConfiguration.options.first { $0.name == "data" }!

  /// The folder that `--data` names, made when it is not there. A refusal is told with the option that it is about:
  /// `options` names that by the place of the fault.
  static func run<Result: Sendable>(
    _ parsed: ParsedCommand, options: [String: String] = [:],
    _ body: (PushService) async throws(RequestFault) -> Result
  ) async throws -> (result: Result, folder: String) {
    try await FolderService.with(parsed, isMade: true) { opened in
      do throws(RequestFault) { return (try await body(opened.service), opened.folder) } catch {
        let option = error.place.flatMap { options[$0] }.map { "\($0): " } ?? ""
        throw CommandFault("\(option)\(error.found). \(error.remedy)")
      }
    }
  }
}
