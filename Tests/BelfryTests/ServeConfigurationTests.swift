import Foundation
import HTTPAPI
import Store
import Testing

@testable import belfry

@Suite("The settings of serve")
struct ServeConfigurationTests {
  private func configuration(
    file: String? = nil, flags: [String: String] = [:], environment: [String: String] = [:]
  ) throws -> ServeConfiguration {
    var words = ["serve"]
    if let file {
      let folder = FileManager.default.temporaryDirectory.appending(path: "belfry-config-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let path = folder.appending(path: "belfry.json5")
      try Data(file.utf8).write(to: path)
      words += ["--config", path.path()]
    }
    for (name, value) in flags { words += ["--\(name)", value] }
    let command = Command(name: "serve", summary: "", options: ServeConfiguration.options, run: { _ in .success })
    let parser = CommandLineParser(commands: [command], environment: environment)
    guard case .run(_, let parsed) = try parser.parse(words) else { throw UsageFault("not a run") }
    return try ServeConfiguration(parsed, environment: environment, standardData: "/standard")
  }

  private func complaint(_ file: String) -> String {
    do {
      _ = try configuration(file: file)
      return "no complaint"
    } catch let fault as CommandFault { return fault.words } catch { return "\(error)" }
  }

  @Test("flag > variable > file > default, each told")
  func precedence() throws {
    let file = "{ listen: '0.0.0.0:1', apns: 'sandbox', }  // JSON5"
    var read = try configuration(file: file)
    #expect(read.listen.value == "0.0.0.0:1")
    #expect(read.data.origin == .standard)
    read = try configuration(file: file, environment: ["BELFRY_LISTEN": "h:2"])
    #expect(read.listen == .init("h:2", .variable("BELFRY_LISTEN")))
    read = try configuration(file: file, flags: ["listen": "h:3"], environment: ["BELFRY_LISTEN": "h:2"])
    #expect(read.listen == .init("h:3", .flag("listen")))
    #expect(read.apns.value == "sandbox")
  }

  @Test("schedules: whose clocks, what was missed, how many; what is none of these is told")
  func schedules() throws {
    var read = try configuration().schedules
    #expect(read.value.words == "Asia/Shanghai; catch-up; 100 an app" && read.origin == .standard)
    read = try configuration(
      file: "{ schedules: { timeZones: {'com.a': 'Europe/Berlin'}, missed: 'skip', perApp: 7, timeZone: 'UTC' } }"
    ).schedules
    #expect(read.value.words == "UTC, com.a Europe/Berlin; skip; 7 an app" && read.origin != .standard)
    for (file, words) in [
      ("{ schedules: { timeZone: 'Asia/Shangai' } }", "schedules.timeZone: no time zone Asia/Shangai"),
      ("{ schedules: { timeZones: {a: ''} } }", "schedules.timeZones.a: "),
      ("{ schedules: { missed: 'catchup' } }", "schedules.missed: 'catchup' is not catch-up or skip"),
      ("{ schedules: { perApp: 0 } }", "schedules.perApp: give 1"),
      ("{ schedules: { quietHours: {a: '22-7'} } }", "schedules.quietHours.a: '22-7' is no HH:MM-HH:MM"),
      ("{ schedules: { zone: 'UTC' } }", "schedules.zone: there is no such setting"),
    ] {
      #expect(complaint(file).contains(words), "\(complaint(file))")
    }
  }

  @Test("limits: calls a minute, devices an alias, tags a device")
  func limits() throws {
    let usual = try configuration(file: "{}").limits
    #expect(usual.value == ServeConfiguration.Limits())
    let read = try configuration(
      file: "{ limits: { perMinute: { push: 600, schedule: 100, ownDevice: 30 }, devicesPerAlias: 3 } }"
    ).limits.value
    #expect(read.rates.push == 600)
    #expect(read.rates.schedule == 100)
    #expect(read.rates.ownDevice == 30)
    #expect(read.rates.report == usual.value.rates.report)
    #expect(read.devices.devicesPerAlias == 3)
    #expect(read.devices.tagsPerDevice == usual.value.devices.tagsPerDevice)
    for (text, words) in [
      ("{ limits: { perMinute: { push: 0 } } }", "limits.perMinute.push: give 1 to 1000000000 calls a minute"),
      ("{ limits: { perMinute: { pushs: 9 } } }", "limits.perMinute.pushs: there is no such setting"),
      ("{ limits: { tagsPerDevice: -1 } }", "limits.tagsPerDevice: give 1 to 100000"),
      ("{ limits: { tags: 9 } }", "limits.tags: there is no such setting"),
    ] {
      #expect(complaint(text).contains(words), "\(complaint(text))")
    }
  }

  @Test("messages: how many of those that wait for a device come")
  func messages() throws {
    var read = try configuration().messages
    #expect(read.value.words == "all that wait come" && read.origin == .standard)
    read = try configuration(file: "{ messages: { mostWaiting: 50 } }").messages
    #expect(read.value.words == "50 that wait come" && read.origin != .standard)
    for (file, words) in [
      ("{ messages: { mostWaiting: 0 } }", "messages.mostWaiting: give 1 to 1000000"),
      ("{ messages: { most: 9 } }", "messages.most: there is no such setting"),
    ] {
      #expect(complaint(file).contains(words), "\(complaint(file))")
    }
  }

  @Test("keepDays: how long what is over is kept; 0 is for ever")
  func keepDays() throws {
    var read = try configuration().retention
    #expect(
      read.value.words == "pushes 90, schedules 90, dead devices 365, audit 365, messages all"
        && read.origin == .standard)
    read = try configuration(file: "{ keepDays: { pushes: 30, deadDevices: 0, audit: 700 } }").retention
    #expect(
      read.value.words == "pushes 30, schedules 90, dead devices all, audit 700, messages all"
        && read.origin != .standard)
    for (file, words) in [
      ("{ keepDays: { pushes: 6 } }", "keepDays.pushes: give 7 or more days, or 0 to keep all"),
      ("{ keepDays: { push: 9 } }", "keepDays.push: there is no such setting"),
    ] {
      #expect(complaint(file).contains(words), "\(complaint(file))")
    }
  }

  @Test("webhooks: where they may lead, and when many failures are told")
  func webhooks() throws {
    var read = try configuration().webhooks
    #expect(
      read.value.words == "the public internet; told of 20 devices and 20 % that fail in 10 minutes"
        && read.origin == .standard)
    read = try configuration(
      file: "{ webhooks: { allow: ['10.1.0.0/16', '::1'], failureSpike: { devices: 5, percent: 50, minutes: 3 } } }"
    ).webhooks
    #expect(
      read.value.words == "the public internet, 10.1.0.0/16, ::1; told of 5 devices and 50 % that fail in 3 minutes"
        && read.origin != .standard)
    for (file, words) in [
      ("{ webhooks: { allow: ['10.1.0.0/16', 'intranet'] } }", "webhooks.allow[1]: 'intranet' is no address or range"),
      ("{ webhooks: { allow: ['10.1.2.3/16'] } }", "webhooks.allow[0]: '10.1.2.3/16' is no"),
      ("{ webhooks: { failureSpike: { percent: 0 } } }", "webhooks.failureSpike.percent: give 1 to 100"),
      ("{ webhooks: { failureSpike: { minutes: 1441 } } }", "webhooks.failureSpike.minutes: give 1 to 1440"),
      ("{ webhooks: { failureSpike: { window: 5 } } }", "webhooks.failureSpike.window: there is no such setting"),
      ("{ webhooks: { allowed: [] } }", "webhooks.allowed: there is no such setting"),
    ] {
      #expect(complaint(file).contains(words), "\(complaint(file))")
    }
  }

  @Test("the proxy: flag > variable > file > the environment of every program, each told")
  func proxy() throws {
    let file = "{ proxy: 'http://lin:secret@file:1' }"
    let common = ["HTTPS_PROXY": "http://env:2"]
    var read = try configuration(environment: common)
    #expect(read.proxy.value?.words == "http://env:2" && read.proxy.origin == .variable("HTTPS_PROXY"))
    read = try configuration(file: file, environment: common)
    #expect(read.proxy.value?.words == "http://lin:…@file:1")
    guard case .file = read.proxy.origin else {
      Issue.record("\(read.proxy.origin)")
      return
    }
    read = try configuration(
      file: file, environment: common.merging(["BELFRY_PROXY": "socks5://own:3"]) { one, _ in one })
    #expect(read.proxy.value?.words == "socks5://own:3" && read.proxy.origin == .variable("BELFRY_PROXY"))
    read = try configuration(file: file, flags: ["proxy": "none"], environment: common)
    #expect(read.proxy.value?.words == "none" && read.proxy.origin == .flag("proxy"))
    #expect(try configuration().proxy == .init(nil, .standard))
    #expect(throws: UsageFault.self) { try configuration(flags: ["proxy": "https://p:1"]) }
  }

  @Test("paths in the file are relative to its folder")
  func relative() throws {
    let read = try configuration(
      file: "{data: 'd', credentials: [{bundle: 'a.b', key: 'k.p8', keyID: 'ABCDEFGHIJ', teamID: 'KLMNOPQRST'}]}")
    #expect(read.data.value.hasSuffix("/d") && read.data.value.hasPrefix("/"))
    #expect(read.credentials.value.first?.key?.hasPrefix("/") == true)
  }

  static let faults = [
    ("{lisen: 'x'}", "lisen: there is no such setting; did you mean 'listen'? all are"),
    ("{credentials: [{bundle: 'a'}]}", "credentials[0]: give either 'key'"),
    ("{credentials: [{bundle: 'a', key: 'k'}]}", "credentials[0]: a 'key' needs its 'keyID' and 'teamID'"),
    ("{credentials: [{key: 'k'}]}", "credentials[0]: 'bundle' is missing"),
    ("{credentials: [{bundle: 'a', key: 'k', certificate: 'c'}]}", "exclude each other"),
    ("{listen: 8080}", "listen: "),
    ("{listen: ", "the file: "),
  ]

  @Test("a wrong file names the file, the place and the cure", arguments: faults)
  func wrongFiles(file: String, expected: String) {
    let words = complaint(file)
    #expect(words.contains("belfry.json5: "))
    #expect(words.contains(expected), "\(words)")
  }

  @Test("where channels are managed is given with a simulator elsewhere alone")
  func channelManagement() throws {
    let read = try configuration(
      file: "{ apns: 'https://127.0.0.1:2197', apnsManage: 'https://127.0.0.1:2195' }",
      environment: ["BELFRY_APNS_MANAGE": "https://127.0.0.1:3195"])
    #expect(read.apnsManage == .init("https://127.0.0.1:3195", .variable("BELFRY_APNS_MANAGE")))
    #expect(try configuration().apnsManage == .init(nil, .standard))
    for apns in ["simulator", "sandbox", "https://127.0.0.1:2197"] {
      let manage = apns.hasPrefix("https") ? "127.0.0.1:2195" : "https://127.0.0.1:2195"
      #expect(throws: UsageFault.self) { try configuration(flags: ["apns": apns, "apns-manage": manage]) }
    }
  }

  @Test("an unknown place to push to is refused")
  func wrongDestination() {
    #expect(throws: UsageFault.self) { try configuration(flags: ["apns": "sandbx"]) }
  }
}

extension ServeConfigurationTests {
  /// A credential as the configuration file has it.
  static func credential(
    bundle: String, key: String, keyID: String, teamID: String
  ) throws -> ServeConfiguration.Credential {
    let folder = try Files.temporaryFolder("belfry-configuration")
    defer { Files.remove(folder) }
    try Files.writePrivate(
      #"{credentials: [{bundle: "\#(bundle)", key: "\#(key)", keyID: "\#(keyID)", teamID: "\#(teamID)"}]}"#,
      to: folder + "/belfry.json5")
    return try ServeConfiguration.credentials(inFile: folder + "/belfry.json5")[0]
  }
}
