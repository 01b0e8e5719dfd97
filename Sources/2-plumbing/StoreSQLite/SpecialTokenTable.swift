import Audience
import Basics
import Store

/// Tokens that devices have beside their own, those that live: a row each, and for each purpose the set of the devices
/// that have one, by which audiences find them.
struct SpecialTokenTable {
  let database: Database

  init(_ database: Database) { self.database = database }

  // MARK: Reading

  func purposes(of device: Int64) throws(StoreFault) -> Set<TokenPurpose> {
    var purposes: Set<TokenPurpose> = []
    try database.each("SELECT kind, name FROM special_token WHERE device = ?", .int(device)) { row in
      if let purpose = TokenPurpose(kind: UInt8(clamping: row.int(0)), name: row.text(1)) { purposes.insert(purpose) }
    }
    return purposes
  }

  func token(_ purpose: TokenPurpose, of device: Int64) throws(StoreFault) -> (token: [UInt8], at: Instant)? {
    try database.first(
      "SELECT token, registered_at FROM special_token WHERE device = ? AND kind = ? AND name = ?", .int(device),
      .int(purpose.kind), .text(purpose.name)
    ) { ($0.blob(0), Instant(milliseconds: $0.int(1))) }
  }

  func tokens(
    app: Int64, of ordinals: ClosedRange<DeviceOrdinal>
  ) throws(StoreFault) -> [DeviceOrdinal: [PurposeToken]] {
    var tokens: [DeviceOrdinal: [PurposeToken]] = [:]
    try database.each(
      """
      SELECT device, kind, name, token, registered_at FROM special_token WHERE device BETWEEN ? AND ?
        ORDER BY device, kind, name
      """, .int(DeviceTable.id(app: app, ordinals.lowerBound)), .int(DeviceTable.id(app: app, ordinals.upperBound))
    ) { row in
      guard let purpose = TokenPurpose(kind: UInt8(clamping: row.int(1)), name: row.text(2)) else { return }
      tokens[Self.ordinal(row.int(0)), default: []].append(
        PurposeToken(purpose, row.blob(3), registeredAt: Instant(milliseconds: row.int(4))))
    }
    return tokens
  }

  /// Names that somebody has a token under, in the order of their bytes, those after the given one.
  func names(
    app: Int64, like purpose: TokenPurpose, after: String?, limit: Int
  ) throws(StoreFault) -> [TokenName] {
    var found: [(name: String, set: Int64)] = []
    try database.each(
      "SELECT value, id FROM fact WHERE app = ? AND kind = ? AND value > ? ORDER BY value LIMIT ?", .int(app),
      .int(FactKey.holds(purpose).kind), .text(after ?? ""), .int(limit)
    ) { found.append(($0.text(0), DeviceSetKey.fact($0.int(1)).id)) }
    let sets = DeviceSets(database)
    var names: [TokenName] = []
    for (name, set) in found {
      var devices = 0
      for shard in try sets.shards(ofSet: set) { devices += try sets.members(ofSet: set, in: shard).count }
      names.append(TokenName(name, devices: devices))
    }
    return names
  }

  // MARK: Changing

  /// For a device that is new; which of them it has from here on. The set of those that have one is the caller's to keep.
  func insert(_ tokens: [PurposeToken], of device: Int64) throws(StoreFault) -> [TokenPurpose] {
    var kept: [TokenPurpose] = []
    for token in tokens where try holders(of: token.token, as: token.purpose, besides: device).isEmpty {
      try insert(token, of: device)
      kept.append(token.purpose)
    }
    return kept
  }

  private func insert(_ token: PurposeToken, of device: Int64) throws(StoreFault) {
    try database.run(
      """
      INSERT INTO special_token VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (device, kind, name) DO UPDATE SET token = ?4, registered_at = ?5
      """, .int(device), .int(token.purpose.kind), .text(token.purpose.name), .blob(token.token),
      .int(token.registeredAt.milliseconds))
  }

  /// Other devices of the app that have the token for that purpose.
  private func holders(
    of token: [UInt8], as purpose: TokenPurpose, besides device: Int64
  ) throws(StoreFault) -> [Int64] {
    var holders: [Int64] = []
    try database.each(
      "SELECT device FROM special_token WHERE token = ? AND kind = ? AND name = ? AND device <> ?", .blob(token),
      .int(purpose.kind), .text(purpose.name), .int(device)
    ) { if $0.int(0) >> 32 == device >> 32 { holders.append($0.int(0)) } }
    return holders
  }

  func keep(_ edit: TokenEdit, of device: Int64, _ limits: DeviceLimits) throws(StoreFault) {
    let purpose = edit.purpose
    guard let token = edit.token else { return try remove(purpose, of: device) }
    let app = device >> 32
    for other in try holders(of: token, as: purpose, besides: device) { try remove(purpose, of: other) }
    let known = try self.token(purpose, of: device)
    try insert(PurposeToken(purpose, token, registeredAt: edit.at), of: device)
    guard known == nil else { return }
    try FactTable(database).insert([Self.ordinal(device)], into: .holds(purpose), of: app)
    try noteChange(device)
    try removeOldest(like: purpose, of: device, beyond: limits.activities)
  }

  /// The device has no such token any more; nothing happens when it had none.
  func remove(_ purpose: TokenPurpose, of device: Int64) throws(StoreFault) {
    try database.run(
      "DELETE FROM special_token WHERE device = ? AND kind = ? AND name = ?", .int(device), .int(purpose.kind),
      .text(purpose.name))
    guard database.changes > 0 else { return }
    try FactTable(database).remove([Self.ordinal(device)], from: .holds(purpose), of: device >> 32)
    try noteChange(device)
  }

  func removeAll(of device: Int64) throws(StoreFault) {
    for purpose in try purposes(of: device) { try remove(purpose, of: device) }
  }

  /// One piece of the tokens of activities that are over; false when there is none.
  func forgetActivities(before time: Instant) throws(StoreFault) -> Bool {
    var old: [(device: Int64, id: String)] = []
    try database.each(
      "SELECT device, name FROM special_token WHERE kind = 3 AND registered_at < ? LIMIT ?", .int(time.milliseconds),
      .int(ForgettingTable.devices)
    ) { old.append(($0.int(0), $0.text(1))) }
    for (device, id) in old { try remove(.activity(id: id), of: device) }
    return !old.isEmpty
  }

  private func removeOldest(like purpose: TokenPurpose, of device: Int64, beyond limit: Int) throws(StoreFault) {
    var old: [TokenPurpose] = []
    try database.each(
      "SELECT kind, name FROM special_token WHERE device = ? AND kind = ? ORDER BY registered_at DESC LIMIT -1 OFFSET ?",
      .int(device), .int(purpose.kind), .int(limit)
    ) { row in
      if let purpose = TokenPurpose(kind: UInt8(clamping: row.int(0)), name: row.text(1)) { old.append(purpose) }
    }
    for purpose in old { try remove(purpose, of: device) }
  }

  /// What an audience says of the device may be another now.
  private func noteChange(_ device: Int64) throws(StoreFault) {
    try database.run(
      "UPDATE device SET changed_after = (SELECT coalesce(max(id), 0) FROM push) WHERE id = ?", .int(device))
  }

  private static func ordinal(_ device: Int64) -> DeviceOrdinal { DeviceOrdinal(truncatingIfNeeded: device) }
}
