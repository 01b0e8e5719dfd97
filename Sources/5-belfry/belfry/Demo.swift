import APNSSimulator
import Basics
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import PushService
import Transport

/// `belfry serve --demo`: service, simulated APNs and three phones in one process. Every step is one call of
/// `POST /v3/push` by HTTP; everything after it is the real way of a push.
struct Demo {
  let host: ServiceHost
  let app: NewApp
  let lab: PhoneLab
  let client: HTTPClient
  let phones: [Resident]

  struct Resident {
    var name: String
    var version: IOSVersion
    var registrationID: String
  }

  static func run(
    _ given: ServeConfiguration, log: ServiceLog, once: Bool, json: Bool
  ) async throws -> ExitStatus {
    guard given.apns.value == "simulator" else {
      throw UsageFault("--demo pushes to simulated iPhones; leave out --apns \(given.apns.value)")
    }
    var configuration = given
    let isTemporary = given.data.origin == .standard
    if isTemporary { configuration.data = .init(try Files.temporaryFolder("belfry-demo"), .flag("demo")) }
    configuration.data.value = Files.absolute(configuration.data.value)
    if once, given.listen.origin == .standard { configuration.listen = .init("127.0.0.1:0", .flag("once")) }
    defer { if isTemporary { Files.remove(configuration.data.value) } }

    // a demo that runs once ends by Ctrl-C at once
    let signals = once ? nil : ProcessSignals()
    let host: ServiceHost
    do { host = try await ServiceHost.start(configuration, log: log) } catch let fault as TransportFault {
      guard fault.kind == .addressInUse, given.listen.origin == .standard else { throw fault }
      // Nobody asked for the usual port: a free one does as well, and the line of JSON tells which.
      configuration.listen = .init("127.0.0.1:0", .flag("demo"))
      host = try await ServiceHost.start(configuration, log: log)
    }
    let demo: Demo
    do { demo = try await Demo(host) } catch {
      await host.stop()
      throw error
    }
    if !once { announce("listening", host.places) }
    let status = await demo.ring(once: once, json: json)
    if let signals { try await demo.stayUp(data: configuration.data.value, until: signals) }
    await demo.lab.close()
    await host.stop()
    return once ? status : .success
  }

  /// Makes the app, installs it on three phones and waits until each is registered: permission, token from APNs, token
  /// to the service, registration id.
  private init(_ host: ServiceHost) async throws {
    guard let simulator = host.simulator else { throw CommandFault("the demo needs the simulator in its process") }
    let client = HTTPClient()
    let app: NewApp
    do throws(RequestFault) {
      app = try await host.service.createApp(bundleID: DemoPhone.bundleID, name: "Belfry Demo")
    } catch {
      throw CommandFault("\(error.found). \(error.remedy)")
    }
    let address = host.address
    let lab = PhoneLab(courier: simulator.courier, clock: host.clock) { _, bundle, token, place in
      let body: JSONValue = [
        "appKey": .string(app.appKey), "token": .string(token.hex), "bundleId": .string(bundle),
        "environment": .string(place.rawValue),
      ]
      let answer = try? await client.call(
        "POST", address + "/device/v1/registrations", headers: ["Content-Type": "application/json"],
        body: body.encoded())
      return answer.flatMap { try? JSONReader.read($0.body).value.object?["registrationId"]?.string }
    }
    host.witness?.add(lab)
    var phones: [Resident] = []
    for version in DemoPhone.versions {
      let name = "iphone-ios\(version.major)"
      await lab.add(DemoPhone.settings(version), named: name)
      await lab.perform(DemoPhone.firstLaunch, on: name)
      let isRegistered = await lab.wait(for: name, within: .seconds(5)) { $0.contains { $0.rule == "D-018" } }
      guard isRegistered, let id = await lab.phone(name)?.registrationID(of: DemoPhone.bundleID) else {
        await lab.close()
        throw CommandFault("\(name) got no registration id within 5 s")
      }
      phones.append(Resident(name: name, version: version, registrationID: id))
    }
    (self.host, self.app, self.lab, self.client, self.phones) = (host, app, lab, client, phones)
  }

  // MARK: Ringing

  /// Pushes every payload in every place; prints what happened; answers failure when a step was not as the seeds say.
  private func ring(once: Bool, json: Bool) async -> ExitStatus {
    var results: [[DemoResult]] = Array(repeating: [], count: phones.count)
    var passed = 0
    var failed: [String] = []
    for step in DemoStep.all {
      for phone in phones {
        await lab.perform(DemoPhone.bring(to: step.place), on: phone.name)
        _ = await lab.take(from: phone.name)
      }
      let answer = await send(step.push)
      for (index, phone) in phones.enumerated() {
        let words = "\(phone.name), \(step.push.name), \(step.place.rawValue), \(step.act.rawValue)"
        guard case .success = answer else {
          failed.append("\(words): \(answer)")
          continue
        }
        let arrived = await lab.wait(for: phone.name, within: .seconds(5)) { entries in
          entries.contains { if case .arrived = $0.what { true } else { false } }
        }
        guard arrived else {
          failed.append("\(words): the push did not arrive within 5 s")
          continue
        }
        let atArrival = await lab.take(from: phone.name)
        await lab.perform(DemoPhone.events(of: step.act), on: phone.name)
        let result = DemoResult(
          step: step, version: phone.version, atArrival: atArrival, atAct: await lab.take(from: phone.name))
        let (checks, faults) = result.faults()
        passed += checks - faults.count
        failed += faults.map { "\(words): \($0)" }
        results[index].append(result)
      }
    }
    if json {
      for result in results.joined() { Terminal.print(result.json.text) }
    } else {
      for (phone, rows) in zip(phones, results) { Terminal.print(DemoTimeline(phone: phone, rows: rows).text) }
    }
    for fault in failed { Terminal.complain("FAILED \(fault)") }
    if once { Terminal.print("\(passed) passed, \(failed.count) failed") }
    return failed.isEmpty ? .success : .failure
  }

  /// One call as an app server makes it; the failure is the answer in words.
  private func send(_ push: SeedPush) async -> Result<Void, CommandFault> {
    let body: JSONValue = [
      "platform": ["ios"], "audience": ["registration_id": .array(phones.map { .string($0.registrationID) })],
      "notification": ["ios": push.ios], "options": ["apns_production": true, "time_to_live": 600],
    ]
    do throws(HTTPClient.Fault) {
      let answer = try await client.call(
        "POST", host.address + "/v3/push", headers: ["Content-Type": "application/json"],
        basic: (app.appKey, app.masterSecret), body: body.encoded())
      guard answer.status == 200 else {
        return .failure(CommandFault("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"))
      }
      return .success(())
    } catch {
      return .failure(CommandFault("\(error)"))
    }
  }

  // MARK: Staying up

  /// Phones as they are today, the app behind; whatever comes is told as it comes, until somebody ends the process.
  private func stayUp(data: String, until signals: ProcessSignals) async throws {
    for phone in phones {
      guard var settings = await lab.phone(phone.name)?.settings else { continue }
      settings.strictSeed = false
      await lab.perform(.change(settings), on: phone.name)
      await lab.perform(DemoPhone.bring(to: .suspended), on: phone.name)
      _ = await lab.take(from: phone.name)
      // The app set its icon to 0; the service's own count, from which "+1" is reckoned, follows (case C07).
      try? await host.service.changeDevice(
        app.app, registrationID: phone.registrationID, DeviceChange(badge: 0))
    }
    let file = data + "/demo.env"
    try Files.writePrivate(await variables(), to: file)
    Terminal.print(
      """

      The phones stay on, the app in the background. In another terminal:

        . \(file)
        curl -u "$APP_KEY:$MASTER_SECRET" "$API/v3/push" -d '{"platform": "ios", "audience": "all",
          "notification": {"ios": {"alert": "Hello", "badge": "+1", "sound": "default"}}}'

      What the phones do with it is told here. Ctrl-C ends it.
      """)
    let start = host.clock.now
    announce("ready", JSONObject([.init("variables", .string(file))] + host.places.members))
    let telling = Task { [lab] in
      for await told in lab.entries where told.entry.time >= start {
        Terminal.print("\(padded(told.phone, 12))  \(told.entry.line(width: 150))")
        _ = await lab.take(from: told.phone)
      }
    }
    await signals.end()
    telling.cancel()
  }

  /// What a shell needs to talk to the demo.
  private func variables() async -> String {
    let newest = phones[phones.count - 1]
    let token = await lab.phone(newest.name)?.token(of: DemoPhone.bundleID) ?? []
    var lines = [
      ("API", host.address), ("APP_KEY", app.appKey), ("MASTER_SECRET", app.masterSecret),
      ("REGISTRATION_ID", newest.registrationID), ("TOKEN", token.hex), ("TOPIC", DemoPhone.bundleID),
    ]
    if let simulator = host.simulator {
      lines += [
        ("APNS", "https://\(simulator.productionEndpoint ?? simulator.endpoint)"),
        ("KEY_ID", simulator.credentials.keyID), ("TEAM_ID", simulator.credentials.teamID),
      ]
      if let control = simulator.controlEndpoint { lines.append(("CONTROL", "http://\(control)")) }
      if let files = simulator.credentials.files {
        lines += [("CA", files.authority), ("KEY", files.signingKey)]
      }
    }
    return lines.map { "export \($0)='\($1)'\n" }.joined()
  }
}
