internal import Basics
public import PushPayload
public import PushService
internal import Store
internal import Transport

extension HTTPAPI {
  /// `GET /v1/audit?kind=&from=&before=&limit=&cursor=`: newest first.
  func listAudit(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let query = try call.query(.push)
    let page = try Page(query, besides: ["kind", "from", "before"])
    var filter = AuditFilter()
    if let field = query["kind"] {
      let word = try field.word(outOf: AuditKind.allCases.map(\.word))
      filter.kind = AuditKind.allCases.first { $0.word == word }
    }
    filter.from = try query["from"]?.moment()
    filter.before = try query["before"]?.moment()
    let lines = try await service.audit(app, filter, before: try page.numberOfCursor(), limit: page.limit + 1)
    return page.answer("entries", lines, cursor: { String($0.entry.id) }, write: Self.object)
  }

  /// A line as `/v1` and `belfry audit` show it.
  public static func object(_ line: AuditLine) -> JSONObject {
    func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
    let note = line.entry.note
    return [
      "id": .string(String(line.entry.id)), "at": .string(note.at.description), "kind": .string(note.kind.word),
      "appKey": text(line.appKey), "by": ["kind": .string("\(note.doer.kind)"), "key": text(note.doer.key)],
      "address": text(note.address), "subject": text(note.subject), "words": text(note.words),
    ]
  }
}
