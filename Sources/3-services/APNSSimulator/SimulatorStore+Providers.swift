internal import Basics
internal import PushPayload
internal import Transport

/// Keys, teams and revoked certificates in the simulator's file: few, so all are written when one changes.
extension SimulatorStore {
  private enum Standing: String {
    case suspendedTeam = "suspended team"
    case revokedCertificate = "revoked certificate"
    case revokedKey = "revoked key"
  }

  func write(_ kept: ProviderDirectory.Kept) throws(SimulatorFault) {
    try database.execute("DELETE FROM provider; DELETE FROM provider_key;")
    for (standing, names) in [
      (Standing.suspendedTeam, kept.suspendedTeams), (.revokedCertificate, kept.revokedCertificates),
      (.revokedKey, kept.revokedKeys),
    ] {
      for name in names {
        try database.run("INSERT INTO provider VALUES (?, ?)", .text(standing.rawValue), .text(name))
      }
    }
    for key in kept.keys {
      var topics: [String]?
      var family: String?
      switch key.scope {
      case .team: break
      case .topics(let names, _, let name):
        topics = names.sorted()
        family = name
      }
      try database.run(
        "INSERT INTO provider_key VALUES (?, ?, ?, ?, ?, ?)", .text(key.keyID), .text(key.teamID),
        .text(String(decoding: key.publicKey.pem, as: UTF8.self)), .optional(key.environment?.rawValue),
        .optional(topics.map { JSONValue.array($0.map(JSONValue.string)).text }), .optional(family))
    }
  }

  /// Rows that make no sense are left out.
  func providers() throws(SimulatorFault) -> ProviderDirectory.Kept {
    var kept = ProviderDirectory.Kept()
    try database.each("SELECT standing, name FROM provider") { row in
      guard let name = row.text(1) else { return }
      switch Standing(rawValue: row.text(0) ?? "") {
      case .suspendedTeam: kept.suspendedTeams.insert(name)
      case .revokedCertificate: kept.revokedCertificates.insert(name)
      case .revokedKey: kept.revokedKeys.insert(name)
      case nil: break
      }
    }
    try database.each("SELECT id, team, pem, environment, topics, family FROM provider_key") { row in
      guard let id = row.text(0), let team = row.text(1), let pem = row.text(2),
        let publicKey = try? P256PublicKey(pem: Array(pem.utf8))
      else { return }
      let environment = row.text(3).flatMap(SimulatedEnvironment.init(rawValue:))
      var scope = ProviderKey.Scope.team(only: environment)
      if let topics = row.text(4).flatMap({ try? JSONReader.read(Array($0.utf8)).value.array }), let environment {
        scope = .topics(Set(topics.compactMap(\.string)), environment, family: row.text(5) ?? id)
      }
      kept.keys.append(ProviderKey(keyID: id, teamID: team, publicKey: publicKey, scope: scope))
    }
    return kept
  }
}
