import Basics
import Testing
import Transport

@Suite("The machine's time zones")
struct ZoneDatabaseTests {
  @Test(
    "a zone comes with its rules, under its name",
    arguments: ["Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+5"])
  func known(name: String) throws {
    let zone = try ZoneDatabase.usual.zone(named: name)
    #expect(zone.name == name)
    #expect(zone.rules != nil)
  }

  @Test("UTC needs no file")
  func utc() throws { #expect(try ZoneDatabase(folders: []).zone(named: "UTC").rules == .utc) }

  @Test(
    "what is no zone is refused, and no name leads out of the database",
    arguments: [
      "", "Europe", "Europe/Berlim", "../zoneinfo/UTC2", "/etc/passwd", "Europe//Berlin", "Europe/../Europe/Berlin",
      "a b",
      "zone.tab", "tzdata.zi",
    ])
  func unknown(name: String) {
    #expect(throws: ZoneDatabase.Fault.self) { try ZoneDatabase.usual.zone(named: name) }
  }
}
