import APNSSimulator
import PushPayload

/// The file of `belfry apns --faults`: JSON5 with the rules of docs/faults.md.
enum FaultsFile {
  /// Faults name the file, the place in it, what was found, and what to write.
  static func read(_ path: String) throws(CommandFault) -> [FaultRule] {
    let value = try JSON5File.read(path, kind: "a file of faults? A rule has some hundred bytes")
    guard value.object?["faults"] != nil || value.array != nil else {
      throw CommandFault("\(path): there is no list of rules. Write { faults: [ … ] }.")
    }
    do { return try FaultRule.read(value) } catch { throw CommandFault("\(path): \(error)") }
  }
}
