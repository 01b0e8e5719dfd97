import Basics

/// Time zones as the machine knows them (TZif, RFC 9636).
enum ZoneFiles {
  /// nil: the machine has no such zone.
  static func zone(_ name: String) -> Zone? {
    let known = Zone(name)
    if known.rules != nil { return known }
    let isName = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "/_+-".utf8.contains(byte)
    }
    guard isName, !name.isEmpty, !name.hasPrefix("/"), let bytes = try? Files.read("/usr/share/zoneinfo/\(name)"),
      let rules = try? TimeZoneRules(tzif: bytes)
    else { return nil }
    return Zone(name, rules: rules)
  }
}
