import Basics
import PushPayload

/// A running phone as a verb finds it.
struct RunningPhone: Equatable, Sendable {
  var udid: String
  var name: String
  var ios: String
  var facts: JSONObject

  /// The app's state; nil: not installed.
  func state(of bundleID: String) -> String? {
    facts["apps"]?.array?.compactMap(\.object).first { $0["bundle"]?.string == bundleID }?["state"]?.string
  }

  var bundleIDs: [String] { facts["apps"]?.array?.compactMap { $0.object?["bundle"]?.string } ?? [] }
}

/// Reaches running phones over their sockets. A socket that nobody answers behind is left by a killed phone and counts as
/// none.
struct RunningPhones {
  var folder: PhoneFolder

  init(_ environment: [String: String] = processEnvironment()) throws(CommandFault) {
    folder = try PhoneFolder(environment)
  }

  /// Every phone that runs, by name.
  func running() -> [RunningPhone] { folder.udids.compactMap(status).sorted { $0.name < $1.name } }

  func status(_ udid: String) -> RunningPhone? {
    var facts: JSONObject?
    let status = try? send(.init(words: ["status"]), to: udid) { line in
      facts = (try? JSONReader.read(Array(line.utf8)))?.value.object
    }
    guard status == .success, let facts, let name = facts["name"]?.string else { return nil }
    return RunningPhone(udid: udid, name: name, ios: facts["ios"]?.string ?? "", facts: facts)
  }

  /// The phone that `booted`, a UDID or a name means.
  func find(_ word: String) throws(CommandFault) -> RunningPhone {
    let phones = running()
    if word.lowercased() == "booted" {
      guard let phone = phones.first else {
        throw CommandFault(
          "No devices are booted. 'belfry phone' starts one here, 'belfry phone boot NAME' in the background.")
      }
      guard phones.count == 1 else {
        throw CommandFault(
          "several phones are booted: \(phones.map { "\"\($0.name)\"" }.joined(separator: ", ")); name one")
      }
      return phone
    }
    guard let phone = phones.first(where: { $0.udid == word.uppercased() }) ?? phones.first(where: { $0.name == word })
    else {
      let names = phones.isEmpty ? "none is" : phones.map { "\"\($0.name)\"" }.joined(separator: ", ") + " are"
      throw CommandFault("Invalid device: \(word). Of the phones \(names) booted.")
    }
    return phone
  }

  /// Asks, hands over every line of the answer, and answers its status. Throws what the phone complains of.
  @discardableResult
  func send(
    _ request: PhoneLine.Request, to udid: String, _ take: (String) -> Void = { Terminal.print($0) }
  ) throws -> ExitStatus {
    let gone = CommandFault("the phone \(udid) does not run any more")
    guard let socket = try LocalSocket.connect(folder.socket(of: udid)) else { throw gone }
    defer { socket.end() }
    guard socket.send(request.text) else { throw gone }
    var reader = LocalSocket.Reader(socket)
    while let line = reader.next(), let reply = PhoneLine.Reply(line) {
      switch reply {
      case .line(let text): take(text)
      case .end(.usage, let complaint): throw UsageFault(complaint ?? "the phone did not understand")
      case .end(.failure, let complaint): throw CommandFault(complaint ?? "it could not be done")
      case .end(.success, _): return .success
      }
    }
    if request.words.first == "quit" { return .success }  // it went before it could say so
    throw CommandFault("the phone \(udid) went away before it had answered")
  }
}
