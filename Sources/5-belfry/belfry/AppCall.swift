import Basics
import HTTPClient
import PushPayload

/// Which running service a command talks to, and as which app.
struct AppCall: Sendable {
  static let options: [Command.Option] = [
    .init(
      name: "server", value: "URL", help: "The running service, for example http://127.0.0.1:8080",
      variable: "BELFRY_SERVER"),
    .init(
      name: "app", value: "KEY:SECRET",
      help: "The app's key and master secret; better in the variable, where others do not see it",
      variable: "BELFRY_APP"),
  ]

  let server: String
  let key: String
  let secret: String
  private let client = HTTPClient()

  /// nil without `--server`.
  init?(_ parsed: ParsedCommand) throws(UsageFault) {
    guard let server = parsed.value("server") else { return nil }
    guard server.hasPrefix("http://") || server.hasPrefix("https://") else {
      throw UsageFault("--server: '\(server)' is no URL as http://127.0.0.1:8080")
    }
    guard let app = parsed.value("app") else {
      throw UsageFault("'--server' needs '--app KEY:SECRET' beside it (belfry app create prints both)")
    }
    let parts = app.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw UsageFault("--app: give key and master secret as KEY:SECRET")
    }
    self.server = server.withoutSlashAtEnd
    (key, secret) = (parts[0], parts[1])
  }

  /// The answer's JSON; the service's own words when it refuses.
  func get(_ path: String) async throws(CommandFault) -> JSONValue { try await ask("GET", path) }

  /// The answer's JSON, `null` without any; the service's own words when it refuses.
  func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws(CommandFault) -> JSONValue {
    let answer: HTTPClient.Answer
    do throws(HTTPClient.Fault) { answer = try await send(method, path, body?.encoded()) } catch {
      throw CommandFault("\(error)")
    }
    let value = answer.body.isEmpty && answer.status == 204 ? .null : try? JSONReader.read(answer.body).value
    guard 200..<300 ~= answer.status, let value else {
      let message = value?.object?["error"]?.object?["message"]?.string
      throw CommandFault("\(server) answered \(answer.status): \(message ?? "no JSON of a Belfry")")
    }
    return value
  }

  /// The answer as it came, whatever its status.
  func send(
    _ method: String, _ path: String, headers: [String: String] = [:], _ body: [UInt8]? = nil
  ) async throws(HTTPClient.Fault) -> HTTPClient.Answer {
    try await client.call(method, server + path, headers: headers, basic: (key, secret), body: body)
  }
}

extension String {
  /// The address of a server, in front of a path.
  var withoutSlashAtEnd: String { hasSuffix("/") ? String(dropLast()) : self }
}
