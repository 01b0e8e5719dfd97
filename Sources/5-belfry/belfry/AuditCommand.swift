import Basics
import HTTPAPI
import PushPayload
import PushService
import Store

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let auditListCommand = Command(
  name: "audit list",
  summary: "Print who changed what: apps, secrets, credentials, pushes, schedules, audiences, devices",
  discussion: """
    The newest first. Of a data folder all apps', or those of --app KEY; of a running service (--server with --app \
    KEY:SECRET) that app's. Never a secret.
    """,
  options: AppCall.options + [
    ServiceBeside.dataOption,
    .init(
      name: "kind", value: "KIND", help: "Only of this kind, for example credential.rotated",
      completion: .words(AuditKind.allCases.map(\.word))),
    .init(name: "from", value: "TIME", help: "Not before, for example 2026-11-30T09:00:00Z"),
    .init(name: "before", value: "TIME", help: "Only before that time"),
    .init(name: "limit", value: "N", help: "At most so many; default 100"),
    .flag("json", "Print JSON, an object a line"),
  ],
  run: { parsed in
    let query = try AuditQuery(parsed)
    for line in try await query.lines(parsed) { show(line, parsed) }
    return .success
  })

private struct AuditQuery {
  var filter = AuditFilter()
  var limit = 100

  init(_ parsed: ParsedCommand) throws(UsageFault) {
    if let word = parsed.value("kind") {
      filter.kind = AuditKind.allCases.first { $0.word == word }
      guard filter.kind != nil else {
        throw UsageFault("--kind takes one of \(AuditKind.allCases.map(\.word).joined(separator: ", ")), not '\(word)'")
      }
    }
    filter.from = try Self.time(parsed, "from")
    filter.before = try Self.time(parsed, "before")
    if let word = parsed.value("limit") {
      guard let number = Int(word), 1...1_000_000 ~= number else {
        throw UsageFault("--limit takes a number from 1 to 1000000, not '\(word)'")
      }
      limit = number
    }
  }

  private static func time(_ parsed: ParsedCommand, _ name: String) throws(UsageFault) -> Instant? {
    guard let word = parsed.value(name) else { return nil }
    guard let time = Instant(rfc3339: word) else {
      throw UsageFault("--\(name) takes a time such as 2026-11-30T09:00:00Z, not '\(word)'")
    }
    return time
  }

  func lines(_ parsed: ParsedCommand) async throws -> [JSONObject] {
    if let call = try AppCall(parsed) { return try await lines(call) }
    return try await FolderService.with(parsed) { opened in
      let app = parsed.value("app") == nil ? nil : try await opened.app(parsed)
      return try await opened.service.audit(app, filter, before: nil, limit: limit).map { HTTPAPI.object($0) }
    }
  }

  private func lines(_ call: AppCall) async throws(CommandFault) -> [JSONObject] {
    var found: [JSONObject] = []
    var items = ["limit=\(min(limit, 1000))"]
    if let kind = filter.kind { items.append("kind=\(kind.word)") }
    for (name, time) in [("from", filter.from), ("before", filter.before)] {
      if let time { items.append("\(name)=\(time.description.addingPercentEncoding)") }
    }
    var cursor: String?
    repeat {
      let next = cursor.map { ["cursor=\($0.addingPercentEncoding)"] } ?? []
      let answer = try await call.ask("GET", "/v1/audit?\((items + next).joined(separator: "&"))").object
      found += (answer?["entries"]?.array ?? []).compactMap(\.object)
      cursor = answer?["next"]?.string
    } while cursor != nil && found.count < limit
    return Array(found.prefix(limit))
  }
}

private func show(_ line: JSONObject, _ parsed: ParsedCommand) {
  if parsed.flag("json") {
    Terminal.print(JSONValue.object(line).text)
    return
  }
  func words(_ key: String) -> String? { line[key]?.string }
  let by = line["by"]?.object
  let doer = [by?["kind"]?.string, by?["key"]?.string].compactMap(\.self).joined(separator: " ")
  let parts = [
    padded(words("at") ?? "", 24), padded(words("kind") ?? "", 18), words("subject"), words("words"),
    words("appKey").map { "of \($0)" }, "by \(doer)", words("address").map { "from \($0)" },
  ]
  Terminal.print(parts.compactMap(\.self).joined(separator: "  "))
}

extension AuditContext {
  /// For what a command does: the user who runs it.
  static var ofCommand: AuditContext {
    let entry = getpwuid(getuid())
    let name = entry.map { String(cString: $0.pointee.pw_name) } ?? "uid \(getuid())"
    return AuditContext(AuditDoer(.command, key: name))
  }
}
