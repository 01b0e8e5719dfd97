import Audience
import Basics
import Store

/// What became of tokens that answers of APNs spoke against.
struct TokenVerdicts {
  /// Whose own token is dead from here on.
  private(set) var dead: [DeviceOrdinal] = []
  private(set) var retired: [ShardAdvance.TokenNotice] = []
  private(set) var kept: [ShardAdvance.TokenNotice] = []

  /// Retires the token of the device that the push went to, or not, and answers what `explain` shall say of it.
  mutating func judge(
    _ evidence: TokenEvidence, _ address: PushAddress, _ device: Int64, _ database: Database
  ) throws(StoreFault) -> String {
    switch address {
    case .device: try judge(evidence, device, database)
    case .special(let purpose): try judge(evidence, against: purpose, device, database)
    case .channel: evidence.reason
    }
  }

  private mutating func judge(
    _ evidence: TokenEvidence, _ id: Int64, _ database: Database
  ) throws(StoreFault) -> String {
    let found = try database.first(
      "SELECT token, environment, registered_at, registration_id, dead_at IS NOT NULL FROM device WHERE id = ?",
      .int(id)
    ) { row in
      (
        verdict: evidence.verdict(
          token: row.blob(0), environment: APNSEnvironment(rawValue: UInt8(clamping: row.int(1))) ?? .production,
          registeredAt: Instant(milliseconds: row.int(2))),
        registeredAt: Instant(milliseconds: row.int(2)), registrationID: row.text(3), isDead: row.int(4) != 0
      )
    }
    guard let found else { return evidence.reason }
    switch found.verdict {
    case .keep(let words):
      kept.append(.init(registrationID: found.registrationID, words: words))
      return words
    case .retire(let death):
      let words = death.words(registeredAt: found.registeredAt)
      if found.isDead { return words }
      try database.run(
        "UPDATE device SET dead_at = ?, dead_since = ?, dead_reason = ? WHERE id = ?",
        .int(death.notedAt.milliseconds), .optional(death.since?.milliseconds), .text(death.reason), .int(id))
      dead.append(DeviceOrdinal(truncatingIfNeeded: id))
      retired.append(.init(registrationID: found.registrationID, words: words))
      return words
    }
  }

  /// A token beside the device's own is forgotten when it is dead.
  private mutating func judge(
    _ evidence: TokenEvidence, against purpose: TokenPurpose, _ id: Int64, _ database: Database
  ) throws(StoreFault) -> String {
    let table = SpecialTokenTable(database)
    guard let found = try table.token(purpose, of: id) else { return evidence.reason }
    let registrationID = try DeviceTable(database).registrationID(id) ?? ""
    // those of a former environment are gone
    let verdict = evidence.verdict(token: found.token, environment: evidence.environment, registeredAt: found.at)
    switch verdict {
    case .keep(let words):
      kept.append(.init(registrationID: registrationID, words: words))
      return words
    case .retire(let death):
      let words = "\(purpose.words): \(death.words(registeredAt: found.at))"
      try table.remove(purpose, of: id)
      retired.append(.init(registrationID: registrationID, words: words))
      return words
    }
  }
}
