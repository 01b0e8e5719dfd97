internal import Foundation

/// As whom the app is known to the service.
struct Registration: Hashable, Sendable, Codable {
  var appKey: String
  var id: String
  /// In no log.
  var secret: String
  var token: DeviceToken
  /// What was told of the device last.
  var facts: DeviceFacts
}

/// A token as APNs gave it.
struct DeviceToken: Hashable, Sendable, Codable {
  /// In hex.
  var hex: String
  var environment: APNSEnvironment
}

extension AppStore {
  func registration() async throws(BelfryFault) -> Registration? {
    try await perform { database throws(DatabaseFault) in try database.state("registration", as: Registration.self) }
  }

  /// Another registration id is another device: it has its own messages, and a cursor of the former means nothing.
  func setRegistration(_ registration: Registration?) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in
      let old = try database.state("registration", as: Registration.self)
      if let old, let registration, old.appKey != registration.appKey {
        // of another app: nothing of it means anything to this one
        for table in ["inbox", "seen", "calls", "reports"] { try database.run("DELETE FROM \(table)") }
      }
      if old?.id != registration?.id {
        try database.run("DELETE FROM state WHERE name = 'cursor'")
        try database.run("DELETE FROM read_marks")
      }
      try database.setState("registration", registration)
    }
  }

  /// The token that the app was given last, registered or not.
  func token() async throws(BelfryFault) -> DeviceToken? {
    try await perform { database throws(DatabaseFault) in try database.state("token", as: DeviceToken.self) }
  }

  func setToken(_ token: DeviceToken) async throws(BelfryFault) {
    try await perform { database throws(DatabaseFault) in try database.setState("token", token) }
  }
}

extension Database {
  func state<Value: Decodable>(_ name: String, as type: Value.Type) throws(DatabaseFault) -> Value? {
    let text = try run("SELECT value FROM state WHERE name = ?", [.text(name)]) { $0.text(0) ?? "" }.first
    return text.flatMap { decoded($0, as: type) }
  }

  func setState<Value: Encodable>(_ name: String, _ value: Value?) throws(DatabaseFault) {
    guard let value else { return try run("DELETE FROM state WHERE name = ?", [.text(name)]) }
    try run("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", [.text(name), .text(encoded(value))])
  }
}

func encoded(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // a message's numbers are finite: they came as JSON
  return String(decoding: (try? encoder.encode(value)) ?? Data(), as: UTF8.self)
}

func decoded<Value: Decodable>(_ text: String, as type: Value.Type) -> Value? {
  try? JSONDecoder().decode(type, from: Data(text.utf8))
}
