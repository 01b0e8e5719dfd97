public import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The time zones that this machine knows: its tz database, read when it is asked.
public struct ZoneDatabase: Sendable {
  /// Where systems keep it; `TZDIR` is not asked.
  public static let usual = ZoneDatabase(folders: ["/usr/share/zoneinfo", "/var/db/timezone/zoneinfo"])

  private let folders: [String]

  public init(folders: [String]) { self.folders = folders }

  /// Why there are no rules for a name, and what to do; safe to show.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
  }

  /// A zone with its rules. Callable from any task; reads one small file.
  ///
  /// - Throws: the name is none of the database (`Europe/Berlin`, case counts), or its file cannot be read.
  public func zone(named name: String) throws(Fault) -> Zone {
    let zone = Zone(name)
    if zone.rules != nil { return zone }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.allSatisfy(Self.isPart) else { throw Fault(description: "\(name) is no name of a time zone") }
    for folder in folders {
      guard let bytes = try? Data(contentsOf: URL(filePath: folder).appending(path: name)) else { continue }
      do { return Zone(name, rules: try TimeZoneRules(tzif: [UInt8](bytes))) } catch {
        throw Fault(description: "\(folder)/\(name): \(error)")
      }
    }
    throw Fault(
      description: "no time zone \(name) in \(folders.joined(separator: " or ")): is the name right (Europe/Berlin), "
        + "and is tzdata installed?")
  }

  /// Letters, digits and `+ - _`, so that no name leads out of the folders.
  private static func isPart(_ part: Substring) -> Bool {
    !part.isEmpty
      && part.utf8.allSatisfy { $0.isASCIILetterOrDigit || "+-_".utf8.contains($0) }
  }
}
