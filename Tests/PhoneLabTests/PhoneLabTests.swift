import APNSSimulator
import Basics
import BelfryTesting
import Delivery
import Phone
import PhoneLab
import PushPayload
import Testing

@Suite("Phones in the lab, joined to the simulated APNs")
struct PhoneLabTests {
  static let alert: JSONValue = ["aps": ["alert": "hi", "badge": 2, "sound": "default"], "key": "value"]

  @Test("D-015 D-016 D-018 a phone gets its token from APNs, hands it on, and learns its registration id")
  func registration() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      #expect(token.count == 32)
      let known = await scene.lab.wait(for: "a", within: .seconds(20)) { $0.contains { $0.rule == "D-018" } }
      #expect(known)
      #expect(await scene.lab.phone("a")?.registrationID(of: LabScene.bundle) == "registration-of-a")
      let handed = scene.handed.withLock { $0 }
      #expect(handed == [LabScene.Handed(phone: "a", token: token, environment: .production)])
    }
  }

  @Test("D-072 a push over TLS and HTTP/2 reaches exactly the phone of its token and shows there")
  func push() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      _ = await scene.phone("b")
      _ = await scene.lab.take(from: "b")
      let outcome = await scene.push(Self.alert, to: token, id: 1)
      #expect(outcome?.isAccepted == true)
      #expect(await scene.told("a", "shown"))
      #expect(await scene.lab.phone("a")?.badge(of: LabScene.bundle) == 2)
      let others = await scene.lab.take(from: "b")
      #expect(!others.contains { $0.what.name == "arrived" })
    }
  }

  @Test("D-104 D-001 content-available wakes the app's code with the whole payload")
  func wake() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      _ = await scene.lab.take(from: "a")
      let payload: JSONValue = ["aps": ["content-available": 1], "customData": ["task": "sync"]]
      _ = await scene.push(payload, to: token, id: 1, .background)
      #expect(await scene.told("a", "callback"))
      let callbacks = await scene.lab.take(from: "a").compactMap { entry in
        if case .callback(let callback) = entry.what { callback } else { nil }
      }
      #expect(callbacks.map(\.method) == [.didReceiveRemoteNotificationFetch])
      #expect(callbacks.first?.arguments.userInfo == payload.object)
    }
  }

  @Test("D-116 offline: APNs keeps one, the newest, and brings it on reconnect")
  func offline() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      await scene.lab.perform(.networkChanged(online: false), on: "a")
      _ = await scene.lab.take(from: "a")
      for id in 1...3 { _ = await scene.push(Self.alert, to: token, id: id) }
      #expect(await !scene.lab.take(from: "a").contains { $0.what.name == "arrived" })
      await scene.lab.perform(.networkChanged(online: true), on: "a")
      #expect(await scene.told("a", "shown"))
      let centre = await scene.lab.phone("a")?.centre(of: LabScene.bundle)
      #expect(centre == ["00000000-0000-4000-8000-000000000003"])
    }
  }

  @Test("D-044 D-045 a reinstalled app has a new token, the old one is told dead later")
  func reinstall() async throws {
    try await LabScene.run { scene in
      let old = await scene.phone("a")
      await scene.lab.perform(
        [.uninstallApp(bundleID: LabScene.bundle), .installApp(LabScene.app), .launch(bundleID: LabScene.bundle)],
        on: "a")
      let new = await scene.lab.phone("a")?.token(of: LabScene.bundle)
      #expect(new != nil && new != old)
      let first = await scene.push(Self.alert, to: old, id: 1)
      #expect(first?.isAccepted == true, "APNs learns late")
      var refusal: PushOutcome.Refusal?
      for id in 2...9 where refusal == nil {
        if case .refused(let told)? = await scene.push(Self.alert, to: old, id: id) { refusal = told }
      }
      #expect(refusal?.status == 410)
      #expect(refusal?.reason == "Unregistered")
    }
  }

  @Test("D-017 D-045 iOS 9: the token of before a reinstallation still reaches the app, so a push to both comes twice")
  func staleTokens() async throws {
    try await LabScene.run { scene in
      let old = await scene.phone("a", IOSVersion(9))
      await scene.lab.perform(
        [.uninstallApp(bundleID: LabScene.bundle), .installApp(LabScene.app), .launch(bundleID: LabScene.bundle)],
        on: "a")
      let new = await scene.lab.phone("a")?.token(of: LabScene.bundle) ?? []
      #expect(!new.isEmpty && new != old)
      _ = await scene.lab.take(from: "a")
      #expect(await scene.push(Self.alert, to: old, id: 1)?.isAccepted == true)
      #expect(await scene.push(Self.alert, to: new, id: 2)?.isAccepted == true)
      let twice = await scene.lab.wait(for: "a", within: .seconds(20)) { entries in
        entries.filter { if case .arrived = $0.what { true } else { false } }.count == 2
      }
      #expect(twice)
    }
  }

  @Test(
    "D-044 D-046 a token that APNs renews is the app's at once, and the service's: told now to one that runs, else later",
    arguments: [RenewalReason.restore, .osUpdate, .newDevice])
  func renewal(reason: RenewalReason) async throws {
    try await LabScene.run { scene in
      let old = await scene.phone("a")
      await scene.lab.perform(.launch(bundleID: LabScene.bundle), on: "a")
      _ = await scene.lab.take(from: "a")
      let renewed = scene.simulator.courier.renewTokens(device: "a", reason: reason)
      let new = try #require(renewed.first?.token)
      #expect(await scene.lab.wait(for: "a", within: .seconds(20)) { $0.contains { $0.rule == "D-018" } })
      #expect(await scene.lab.phone("a")?.token(of: LabScene.bundle) == new && new != old)
      #expect(scene.handed.withLock { $0.map(\.token) } == [old, new])
      #expect(await scene.push(Self.alert, to: new, id: 1)?.isAccepted == true)
      #expect(await scene.told("a", "arrived"))

      await scene.lab.perform(.networkChanged(online: false), on: "a")
      _ = scene.simulator.courier.renewTokens(device: "a", reason: reason)
      #expect(await scene.lab.phone("a")?.token(of: LabScene.bundle) == new, "a phone without network knows nothing")
      _ = await scene.lab.take(from: "a")
      await scene.lab.perform(.networkChanged(online: true), on: "a")
      #expect(await scene.lab.wait(for: "a", within: .seconds(20)) { $0.contains { $0.rule == "D-018" } })
      let third = await scene.lab.phone("a")?.token(of: LabScene.bundle)
      #expect(third != new && scene.handed.withLock { $0.last?.token } == third)
    }
  }

  @Test("D-046 D-048 a VoIP token that APNs renews reaches the push registry, and VoIP pushes go by it")
  func renewalOfCalls() async throws {
    try await LabScene.run { scene in
      var app = LabScene.app
      app.backgroundModes.insert(.voip)
      app.script[.didFinishLaunching] = [.setPushTypes([.voip])]
      await scene.lab.add(PhoneSettings(iosVersion: IOSVersion(17)), named: "a")
      await scene.lab.perform([.installApp(app), .launch(bundleID: LabScene.bundle)], on: "a")
      #expect(await scene.lab.phone("a")?.voipToken(of: LabScene.bundle) != nil)
      _ = await scene.lab.take(from: "a")
      let renewed = scene.simulator.courier.renewTokens(device: "a", reason: .osUpdate)
      let new = try #require(renewed.first { $0.kind == .voip }?.token)
      #expect(
        await scene.lab.wait(for: "a", within: .seconds(20)) { entries in
          entries.contains {
            if case .callback(let callback) = $0.what {
              callback.arguments == .credentials(.voip, token: new)
            } else {
              false
            }
          }
        })
      #expect(await scene.lab.phone("a")?.voipToken(of: LabScene.bundle) == new)
    }
  }

  @Test("D-005 the lab keeps its phones' timers: a handler that is never called ends the app after 30 s")
  func timers() async throws {
    let simulator = try await APNSSimulator.start()
    let clock = VirtualClock()
    let lab = PhoneLab(courier: simulator.courier, clock: clock) { _, _, _, _ in nil }
    await lab.add(PhoneSettings(), named: "a")
    var app = LabScene.app
    app.fetchAnswer = .never
    await lab.perform([.installApp(app), .launch(bundleID: LabScene.bundle), .home], on: "a")
    await lab.perform(
      .push(
        DeliveredPayload(
          id: "p", bundleID: LabScene.bundle, pushType: .background, priority: .considerate,
          bytes: JSONValue.object(["aps": ["content-available": 1]]).encoded())), on: "a")
    _ = await lab.take(from: "a")
    async let ended = lab.wait(for: "a", within: .days(1)) { $0.contains { $0.rule == "D-174" } }
    var seconds = 0
    while await lab.phone("a")?.state(of: LabScene.bundle) != .notRunning, seconds < 40 {
      guard clock.sleeperCount >= 2 else {  // the alarm and the wait above
        await Task.yield()
        continue
      }
      clock.advance(by: .seconds(1))
      seconds += 1
    }
    #expect(await ended)
    await lab.close()
    await simulator.stop()
  }

  @Test("what happens on all phones comes as one stream, which ends with the lab")
  func stream() async throws {
    try await LabScene.run { scene in
      let entries = scene.lab.entries
      _ = await scene.phone("a")
      _ = await scene.phone("b")
      await scene.lab.close()
      var phones: Set<String> = []
      for await entry in entries { phones.insert(entry.phone) }
      #expect(phones == ["a", "b"])
    }
  }

  @Test("names are taken once; a phone that is not there is nobody")
  func names() async throws {
    try await LabScene.run { scene in
      #expect(await scene.lab.add(PhoneSettings(), named: "a"))
      #expect(await !scene.lab.add(PhoneSettings(), named: "a"))
      #expect(await scene.lab.names == ["a"])
      #expect(await scene.lab.phone("z") == nil)
      await scene.lab.perform(.lock, on: "z")
      let met = await scene.lab.wait(for: "z", within: .seconds(1)) { _ in true }
      #expect(!met)
    }
  }
}
