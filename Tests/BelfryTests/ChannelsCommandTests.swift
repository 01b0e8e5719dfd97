import APNSClient
import APNSSimulator
import Basics
import PushPayload
import Testing
import Transport

@testable import belfry

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("belfry channels, against the simulator")
struct ChannelsCommandTests {
  private static func options(_ words: [String]) throws -> (ChannelsAct, ChannelsOptions) {
    let parser = CommandLineParser(commands: allCommands, environment: [:])
    guard case .run(let command, let parsed) = try parser.parse(["channels"] + words),
      let act = ChannelsAct(rawValue: String(command.name.dropFirst("channels ".count)))
    else { throw UsageFault("help") }
    return (act, try ChannelsOptions(parsed))
  }

  @Test("create, list, read, send, delete by key and by certificate; refusals say what to do")
  func life() async throws {
    let simulator = try await APNSSimulator.start()
    let folder = try Files.temporaryFolder("channels")
    defer { Files.remove(folder) }
    let credentials = simulator.credentials
    for (bytes, name) in [
      (credentials.authority.pem, "ca.pem"), (credentials.signingKey.pem, "key.p8"), (credentials.pkcs12, "push.p12"),
    ] {
      try Files.writePrivate("", to: "\(folder)/\(name)")
      try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }
    let manage = try #require(simulator.manageEndpoint)
    let place = [
      "--bundle", "com.example.app", "--ca", folder + "/ca.pem", "--apns",
      "https://127.0.0.1:\(simulator.endpoint.port)", "--manage", "https://127.0.0.1:\(manage.port)",
    ]
    let identities = [
      ["--key", folder + "/key.p8", "--key-id", credentials.keyID, "--team-id", credentials.teamID],
      ["--cert", folder + "/push.p12", "--cert-password", credentials.pkcs12Password],
    ]
    let got = Locked<[DeliveredPush]>([])
    simulator.courier.connect(device: "phone") { push in got.withLock { $0.append(push) } }
    for identity in identities {
      func run(_ words: [String]) async throws -> ChannelsReport {
        let (act, options) = try Self.options(words + place + identity)
        return try await options.run(act)
      }
      let channel = try await run(["create", "--storage", "none"]).text
      #expect(try await run(["list"]).text == channel)
      #expect(try await run(["read", channel]).text == "none")
      #expect(simulator.courier.subscribe(device: "phone", bundle: "com.example.app", channel: channel))
      let send = ["send", channel, "--event", "update", "--state", #"{"n":1}"#, "--priority", "10", "--expires"]
      #expect(try await run(send + ["0"]).text.hasPrefix("accepted"))
      let refused = await #expect(throws: CommandFault.self) { _ = try await run(send + ["1h"]) }
      #expect(refused?.words.contains("400 BadExpirationDate") == true)
      #expect(try await run(["delete", channel]).text == "deleted")
      let gone = await #expect(throws: CommandFault.self) { _ = try await run(["read", channel]) }
      #expect(gone?.words.contains("ChannelNotRegistered") == true && gone?.words.contains("List the app's") == true)
    }
    #expect(got.withLock { $0.map(\.channelID).count } == 2)
    await simulator.stop()
  }

  @Test("--proxy: Apple's own names are asked for, and the simulator's CONNECT proxy brings them to its ports")
  func proxy() async throws {
    var configuration = APNSSimulator.Configuration()
    configuration.proxy = Endpoint(host: "127.0.0.1", port: 0)
    let simulator = try await APNSSimulator.start(configuration)
    let folder = try Files.temporaryFolder("channels")
    defer { Files.remove(folder) }
    let credentials = simulator.credentials
    for (bytes, name) in [(credentials.authority.pem, "ca.pem"), (credentials.signingKey.pem, "key.p8")] {
      try Files.writePrivate("", to: "\(folder)/\(name)")
      try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }
    let proxy = try #require(simulator.proxyEndpoint)
    func run(_ words: [String], through port: Int) async throws -> ChannelsReport {
      let (act, options) = try Self.options(
        words + [
          "--bundle", "com.example.app", "--ca", folder + "/ca.pem", "--apns", "sandbox", "--key", folder + "/key.p8",
          "--key-id", credentials.keyID, "--team-id", credentials.teamID, "--proxy", "http://127.0.0.1:\(port)",
        ])
      return try await options.run(act)
    }
    let channel = try await run(["create"], through: Int(proxy.port)).text
    #expect(try await run(["list"], through: Int(proxy.port)).text == channel)
    await simulator.stop()
    let gone = await #expect(throws: CommandFault.self) { _ = try await run(["list"], through: Int(proxy.port)) }
    #expect(gone?.words.contains("proxy") == true, "\(gone?.words ?? "")")
  }

  @Test(
    "wrong usage is told before anything is sent",
    arguments: [
      (["create"], "--bundle"), (["create", "--bundle", "a.b"], "a credential is missing"),
      (["create", "--bundle", "a.b", "--cert", "c.p12", "--apns", "https://127.0.0.1:1"], "--manage"),
      (["read", "--bundle", "a.b"], "CHANNEL is missing"),
    ])
  func usage(words: [String], says: String) {
    let fault = #expect(throws: UsageFault.self) { try Self.options(words) }
    #expect(fault?.words.contains(says) == true, "\(fault?.words ?? "")")
  }

  @Test("Apple's hosts go by the environment")
  func hosts() throws {
    let words = ["list", "--bundle", "a.b", "--cert", "c.p12", "--apns"]
    #expect(try Self.options(words + ["production"]).1.server == .production)
    #expect(try Self.options(words + ["sandbox"]).1.server == .sandbox)
  }
}
