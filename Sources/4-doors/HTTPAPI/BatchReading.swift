internal import Audience
internal import PushPayload
internal import PushService

/// What each entry of a batch, or each line of a file, names.
enum BatchTarget: Equatable, Sendable {
  case registrationID
  case alias

  fileprivate var rule: NameRule {
    switch self {
    case .registrationID: .registrationID
    case .alias: .alias
    }
  }

  var fileKind: AudienceFile.Kind {
    switch self {
    case .registrationID: .registrationID
    case .alias: .alias
    }
  }

  fileprivate func audience(_ name: String) -> AudienceExpression {
    switch self {
    case .registrationID: .registrationID(name)
    case .alias: .alias(name)
    }
  }
}

/// Reads the body of `POST /v3/push/batch/…/single` (jpush.md §5.3): many pushes of one target each, by their `cid`. What
/// is wrong with one entry is that entry's fault alone.
enum BatchReading {
  static let mostEntries = 1000

  private static let known = [
    "platform", "target", "notification", "message", "inapp_message", "notification_3rd", "sms_message", "options",
    "callback",
  ]

  struct Entry: Sendable {
    var clientID: String
    var order: Result<PushOrder, RequestFault>
  }

  static func read(_ body: [UInt8], _ target: BatchTarget) throws(RequestFault) -> [Entry] {
    let fields = try RequestBody.object(body, codes: .push)
    try fields.refuseUnknown(besides: ["pushlist"])
    guard let field = fields["pushlist"] else {
      throw fields.missing("pushlist", "Give an object that holds a push under each cid.")
    }
    let list = try field.object()
    guard 1...mostEntries ~= list.object.members.count else {
      throw field.wrong(
        "it has \(list.object.members.count) entries", "Give 1 to \(mostEntries) pushes in one call.")
    }
    return list.object.members.map { member in
      let field = Field(value: member.value, path: list.path.appending(member.key), codes: .push)
      do throws(RequestFault) {
        return Entry(clientID: member.key, order: .success(try order(field, member.key, target)))
      } catch {
        return Entry(clientID: member.key, order: .failure(error))
      }
    }
  }

  private static func order(
    _ field: Field, _ name: String, _ target: BatchTarget
  ) throws(RequestFault) -> PushOrder {
    let clientID = try PushReading.clientID(Field(value: .string(name), path: field.path, codes: .push))
    let fields = try field.object()
    try fields.refuseUnknown(besides: known)
    guard let named = fields["target"] else {
      throw fields.missing("target", "Give one registration id, or one alias at the alias path.")
    }
    var order = try PushReading.order(
      fields, to: { () throws(RequestFault) in target.audience(try named.name(target.rule)) },
      original: field.value.encoded())
    order.clientID = clientID
    return order
  }
}
