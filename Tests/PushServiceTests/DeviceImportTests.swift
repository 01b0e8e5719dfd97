import Audience
import Basics
import BelfryTesting
import Foundation
import PushService
import Schedule
import Store
import StoreSQLite
import Testing

@Suite("Importing and exporting devices")
struct DeviceImportTests {
  static let token = String(repeating: "ab", count: 32)

  private func take(
    _ bench: ServiceBench, _ app: AppRecord, _ text: String, _ format: DeviceFile = .csv,
    _ columns: [DeviceFile.Column] = [.token, .alias, .tags, .badge]
  ) async throws -> DeviceImport {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
      (number: Int64($0.offset + 2), bytes: ArraySlice(Array($0.element.utf8)))
    }
    return try await bench.service.importDevices(
      app, lines, of: format, columns: columns, mark: ImportMark(source: "file", position: 0, lines: 0))
  }

  static let badLines: [(line: String, words: String)] = [
    ("\(token),lin", "2 fields; the first line names 4"),
    ("\"\(token),lin,,", "a quoted field does not end on its line"),
    ("\"\(token)\"x,lin,,", "after a quoted field a comma must come"),
    (",lin,,", "token: no device token"),
    ("zz,lin,,", "token: 2 characters that are not all hex digits"),
    ("\(token),a b,,", "alias: \"a b\" has space (U+0020) at character 2"),
    ("\(token),lin,good b-d,", "tags: \"b-d\" has '-' hyphen-minus (U+002D) at character 2"),
    ("\(token),lin,,many", "badge: “many” is not a number"),
    ("\(token),lin,,100000", "badge: 100000"),
  ]

  @Test("a line that is no device is told with its number, and the others are taken", arguments: badLines)
  func badLine(line: String, words: String) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let result = try await take(
      bench, app, "\(StoreSamples.token(1).hex),,,\n\(line)\n\n\(StoreSamples.token(2).hex),,,")
    #expect(result.kept == 2)
    #expect(result.faults.map(\.line) == [3])
    #expect(result.faults.map(\.words) == [words])
    #expect(!result.faults.contains { $0.words.contains(Self.token) })
  }

  static let badObjects: [(line: String, words: String)] = [
    ("[]", "no JSON object"),
    (#"{"token": 5}"#, "token: of the wrong kind"),
    (#"{"tags": ["a b"]}"#, "tags: each must be a string, not empty and without spaces"),
    (
      #"{"permission": "maybe", "token": "\#(token)"}"#,
      "permission: “maybe” is not notAsked, denied, authorized, provisional"
    ),
    (#"{"quietHours": "22-7", "token": "\#(token)"}"#, "quietHours: “22-7” is not HH:MM-HH:MM, as 22:00-07:00"),
    (
      #"{"channels": ["a-b"], "token": "\#(token)"}"#,
      "channels[0]: \"a-b\" has '-' hyphen-minus (U+002D) at character 2"
    ),
    (#"{"voipToken": "zz", "token": "\#(token)"}"#, "voipToken: 2 characters that are not all hex digits"),
    (
      #"{"activities": {"a": "\#(token)@noon"}, "token": "\#(token)"}"#,
      "activities: behind @ no time as 2026-11-30T09:00:00Z"
    ),
    (#"{"activities": ["\#(token)"], "token": "\#(token)"}"#, "activities: of the wrong kind"),
    (#"{"environment": "test", "token": "\#(token)"}"#, "environment: “test” is not production or sandbox"),
    (
      #"{"createdAt": "yesterday", "token": "\#(token)"}"#,
      "createdAt: “yesterday” is not a time as 2026-11-30T09:00:00Z"
    ),
  ]

  @Test("so is an object", arguments: badObjects)
  func badObject(line: String, words: String) async throws {
    let bench = try await ServiceBench()
    let result = try await take(bench, try await bench.app(), line, .jsonl, [])
    #expect(result.faults.map(\.words) == [words])
  }

  @Test("bytes that are no UTF-8 and endless lines are no devices")
  func bytes() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let long = [UInt8](repeating: 0x61, count: DeviceFile.longestLine + 1)
    let result = try await bench.service.importDevices(
      app, [(2, [0xC3, 0x28]), (3, long[...])], of: .csv, columns: [.token],
      mark: ImportMark(source: "file", position: 0, lines: 0))
    #expect(result.faults.map(\.words) == ["it is not UTF-8", "it is longer than 65536 bytes"])
  }

  @Test("what was exported is imported as the same devices, in either format", arguments: DeviceFile.allCases)
  func roundTrip(format: DeviceFile) async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let full = #"""
      {"registrationId": "abc123", "token": "\#(Self.token)", "environment": "sandbox", "alias": "lin.王", "tags": ["a|b", "群"],
       "mobile": "+8613800000000", "badge": 7, "onlyScheduled": true, "osVersion": "18.1", "appVersion": "2,5",
       "quietHours": "22:00-07:00", "channels": ["news", "orders"], "voipToken": "\#(StoreSamples.token(7).hex)",
       "activityStartTokens": {"Match": "\#(StoreSamples.token(8).hex)@2026-02-02T00:00:00.000Z", "Order": "\#(StoreSamples.token(9).hex)"},
       "activities": {"order-7": "\#(StoreSamples.token(10).hex)"},
       "language": "zh-Hans", "timeZone": "Asia/Shanghai", "model": "say \"17\"", "permission": "denied",
       "createdAt": "2026-01-01T00:00:00.000Z", "registeredAt": "2026-02-01T00:00:00.000Z",
       "lastSeen": "2026-03-01T00:00:00.000Z"}
      """#.replacing("\n", with: "")
    let bare = #"{"token": "\#(StoreSamples.token(3).hex)"}"#
    let quiet = #"{"token": "\#(StoreSamples.token(4).hex)", "channels": []}"#
    #expect(try await take(bench, app, "\(full)\n\(bare)\n\(quiet)", .jsonl, []).kept == 3)
    let exported = try await bench.service.exportDevices(app, as: format, after: nil)
    #expect(exported.lines.count == 3 && exported.next == nil)

    let other = try await ServiceBench(clock: bench.clock)
    let otherApp = try await other.app()
    let columns = try format.header.map(DeviceFile.columns(ofHeader:)) ?? []
    let text = exported.lines.joined(separator: "\n")
    #expect(try await take(other, otherApp, text, format, columns).kept == 3)
    #expect(try await other.service.exportDevices(otherApp, as: format, after: nil).lines == exported.lines)
    #expect(try await take(other, otherApp, text, format, columns).known == 3)
    func devices(_ store: any Store) async throws -> [StoredDevice] {
      try await store.devices(app: app.id, in: .everyone, after: nil, limit: 9, at: bench.clock.now)
    }
    let brought = try await devices(other.store)
    #expect(try await brought == devices(bench.store))
    #expect(
      try await other.store.purposeTokens(app: otherApp.id, of: 0...9)
        == bench.store.purposeTokens(app: app.id, of: 0...9))
    let first = try #require(brought.first)
    #expect(first.tags == ["a|b", "群"] && first.badge == 7 && first.onlyScheduled)
    #expect(first.quietHours?.description == "22:00-07:00" && first.channels == ["news", "orders"])
    #expect(first.purposes.count == 4 && brought.map(\.channels) == [["news", "orders"], nil, []])
  }

  @Test("an imported device has no secret until its app registers, and then keeps its registration id")
  func secret() async throws {
    let bench = try await ServiceBench()
    let app = try await bench.app()
    let line = #"{"registrationId": "abc123", "token": "\#(Self.token)"}"#
    #expect(try await take(bench, app, line, .jsonl, []).kept == 1)
    await #expect(throws: RequestFault.self) {
      try await bench.service.authenticateDevice(appKey: app.key, registrationID: "abc123", secret: "")
    }
    let registered = try await bench.service.register(
      appKey: app.key, DeviceRegistration(token: Self.token, environment: .production))
    #expect(registered.registrationID == "abc123")
  }

  @Test("columns are known in other spellings, and a column that is none is named")
  func header() throws {
    #expect(
      try DeviceFile.columns(ofHeader: "registration_id,Token,app version") == [.registrationID, .token, .appVersion])
    for (header, words) in [
      ("token,nam", "“nam” is no column"), ("alias", "the first line must name the columns, with token"),
      ("token,TOKEN", "the column token is there twice"),
    ] {
      #expect { try DeviceFile.columns(ofHeader: header) } throws: { "\($0)".hasPrefix(words) }
    }
  }
}
