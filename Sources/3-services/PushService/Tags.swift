import Store

extension PushService {
  /// At most so many registration ids in one list of a call (jpush.md §7).
  private static let mostIDs = 1000

  /// The app's tags that somebody has, in the order of their bytes, those after the given one; at most `limit`.
  public func tags(_ app: AppRecord, after: String? = nil, limit: Int) async throws(RequestFault) -> [TagView] {
    try await faulting(as: .device, await store.tags(app: app.id, after: after, limit: limit).map(TagView.init))
  }

  /// nil when nobody has it.
  public func tag(_ app: AppRecord, name: String) async throws(RequestFault) -> TagView? {
    try NameRule.tag.check(name, .deviceInvalidParameter, at: "tag")
    return try await faulting(as: .device, await store.tag(app: app.id, name: name).map(TagView.init))
  }

  /// Gives the tag to `adding` and takes it from `removing`, whole or not at all; who is in both has it afterwards. 7013
  /// with the ids that are at fault.
  public func changeTag(
    _ app: AppRecord, name: String, adding: [String], removing: [String]
  ) async throws(RequestFault) {
    try NameRule.tag.check(name, .deviceInvalidParameter, at: "tag")
    try Self.checkCount(adding, at: "registration_ids.add")
    try Self.checkCount(removing, at: "registration_ids.remove")
    var edit = TagEdit()
    edit.add = adding
    edit.remove = removing
    let note = note(.tagChanged, app, name, "\(adding.count) added, \(removing.count) removed")
    let answer = try await faulting(
      as: .device, await store.changeTag(app: app.id, name: name, edit, limits: limits, audit: note))
    try check(answer)
  }

  /// Nobody has the tag from the answer on. A tag that nobody has is deleted already.
  public func deleteTag(_ app: AppRecord, name: String) async throws(RequestFault) {
    try NameRule.tag.check(name, .deviceInvalidParameter, at: "tag")
    try await faulting(as: .device, await store.deleteTag(app: app.id, name: name, audit: note(.tagDeleted, app, name)))
  }

  // MARK: Aliases

  /// Who has the alias, whatever became of their tokens, oldest first.
  public func devices(_ app: AppRecord, alias: String) async throws(RequestFault) -> [DeviceView] {
    try NameRule.alias.check(alias, .deviceInvalidParameter, at: "alias")
    return try await faulting(as: .device, await store.devices(app: app.id, alias: alias).map(DeviceView.init))
  }

  /// Takes the alias from those of the devices that have it, whole or not at all. 7013 with the ids that are at fault.
  public func removeAlias(
    _ app: AppRecord, _ alias: String, from registrationIDs: [String]
  ) async throws(RequestFault) {
    try NameRule.alias.check(alias, .deviceInvalidParameter, at: "alias")
    try Self.checkCount(registrationIDs, at: "registration_ids.remove")
    let note = note(.aliasChanged, app, alias, "\(registrationIDs.count) removed")
    let answer = try await faulting(
      as: .device, await store.removeAlias(app: app.id, alias: alias, from: registrationIDs, audit: note))
    try check(answer)
  }

  /// Nobody has the alias from the answer on.
  public func deleteAlias(_ app: AppRecord, _ alias: String) async throws(RequestFault) {
    try NameRule.alias.check(alias, .deviceInvalidParameter, at: "alias")
    try await faulting(
      as: .device, await store.deleteAlias(app: app.id, alias: alias, audit: note(.aliasDeleted, app, alias)))
  }

  // MARK: Faults

  static func checkCount(_ registrationIDs: [String], at place: String) throws(RequestFault) {
    guard registrationIDs.count > mostIDs else { return }
    throw RequestFault(
      .deviceInvalidParameter, at: place, found: "it has \(registrationIDs.count) entries",
      remedy: "At most \(mostIDs) are allowed in one call.")
  }

  private func check(_ answer: MembershipAnswer) throws(RequestFault) {
    switch answer {
    case .done: break
    case .noSuchDevices(let ids):
      throw RequestFault(
        .devicePartlyInvalid, at: "registration_ids",
        found:
          "this app has no device \(quoted(ids.first ?? ""))\(ids.count > 1 ? " nor \(ids.count - 1) others" : "")",
        remedy: "Remove those of illegal_rids; nothing was changed.", illegalIDs: ids)
    case .tooManyTags(let tags, let registrationID):
      throw RequestFault(
        .tooManyTags, at: "registration_ids.add", found: "device \(quoted(registrationID)) would have \(tags) tags",
        remedy: "A device has at most \(limits.tagsPerDevice) tags: remove some. Nothing was changed.",
        illegalIDs: [registrationID])
    }
  }
}

/// A tag that somebody has.
public struct TagView: Sendable, Hashable {
  public var name: String
  /// How many have it, whatever became of their tokens.
  public var devices: Int

  init(_ tag: StoredTag) {
    name = tag.name
    devices = tag.devices
  }
}
