import APNSClient
import APNSSimulator
import Basics
import Delivery
import Phone
import PhoneLab
import PushPayload
import Testing

@Suite("What APNs did with a push that did not come, on the phone's timeline")
struct LabFateTests {
  private static let alert: JSONValue = ["aps": ["alert": "hi"]]

  /// What APNs said of each push, in order.
  private func fates(_ entries: [TimelineEntry]) -> [String] {
    entries.compactMap { entry in
      guard case .withheld(let id, let reason) = entry.what, reason.hasPrefix("APNs: ") else { return nil }
      return "\(id.suffix(1)) \(reason.dropFirst(6)) \(entry.rule)"
    }
  }

  private func told(_ scene: LabScene, _ count: Int) async -> [String] {
    _ = await scene.lab.wait(for: "a", within: .seconds(20)) { fates($0).count >= count }
    return fates(await scene.lab.take(from: "a"))
  }

  private func log(_ scene: LabScene) -> [String] {
    scene.simulator.notifications.map { notification in
      if case .dropped(_, let why) = notification.fate { why } else { "" }
    }
  }

  @Test("D-348 D-349 stored while offline, replaced in the store: told for each push, as Apple's metrics name them")
  func stored() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      await scene.lab.perform(.networkChanged(online: false), on: "a")
      _ = await scene.lab.take(from: "a")
      for id in 1...2 { _ = await scene.push(Self.alert, to: token, id: id) }
      #expect(
        await told(scene, 3).sorted() == [
          "1 discarded, replaced in storage D-349", "1 stored, device offline D-349", "2 stored, device offline D-349",
        ])
      await scene.lab.perform(.networkChanged(online: true), on: "a")
      #expect(await scene.told("a", "shown"))
    }
  }

  @Test("D-349 one attempt only, and the phone is away: discarded, expired")
  func expired() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      await scene.lab.perform(.networkChanged(online: false), on: "a")
      _ = await scene.lab.take(from: "a")
      let outcome = await scene.client.send([
        OutgoingPush(
          id: LabScene.pushID(1), token: token, topic: LabScene.bundle, pushType: .alert, priority: .immediate,
          expiration: 0, collapseID: nil, payload: Self.alert.encoded())
      ]).first
      #expect(outcome?.isAccepted == true)
      #expect(await told(scene, 1) == ["1 discarded, expired D-349"])
    }
  }

  @Test("D-047 deniedDropsAlertAtAPNs: 200 for the provider, disabled by user in APNs' log, and no wake")
  func disabled() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a") { $0.deniedDropsAlertAtAPNs = true }
      var off = Phone.UserSettings()
      off.allowed = false
      await scene.lab.perform(.changePermission(bundleID: LabScene.bundle, off), on: "a")
      _ = await scene.lab.take(from: "a")
      let alert: JSONValue = ["aps": ["alert": "hi", "content-available": 1]]
      #expect(await scene.push(alert, to: token, id: 1)?.isAccepted == true)
      #expect(await told(scene, 1) == ["1 discarded, disabled by user D-047"])
      #expect(log(scene) == ["disabled by user"])

      _ = await scene.push(["aps": ["content-available": 1]], to: token, id: 2, .background)
      #expect(await scene.told("a", "callback"), "only alerts are dropped")

      await scene.lab.perform(.changePermission(bundleID: LabScene.bundle, Phone.UserSettings()), on: "a")
      _ = await scene.push(alert, to: token, id: 3)
      #expect(await scene.told("a", "shown"))
    }
  }

  @Test("D-047 a phone without network tells APNs once it is back; what waited for the app is dropped then")
  func disabledOffline() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a") { $0.deniedDropsAlertAtAPNs = true }
      var off = Phone.UserSettings()
      off.allowed = false
      await scene.lab.perform(
        [.networkChanged(online: false), .changePermission(bundleID: LabScene.bundle, off)], on: "a")
      _ = await scene.lab.take(from: "a")
      _ = await scene.push(Self.alert, to: token, id: 1)
      #expect(await told(scene, 1) == ["1 stored, device offline D-349"])
      await scene.lab.perform(.networkChanged(online: true), on: "a")
      #expect(await told(scene, 1) == ["1 discarded, disabled by user D-047"])
      #expect(log(scene) == ["disabled by user"])
    }
  }

  @Test("D-034 without the switch APNs brings what the user turned off, and it wakes the app")
  func denied() async throws {
    try await LabScene.run { scene in
      let token = await scene.phone("a")
      var off = Phone.UserSettings()
      off.allowed = false
      await scene.lab.perform(.changePermission(bundleID: LabScene.bundle, off), on: "a")
      _ = await scene.lab.take(from: "a")
      _ = await scene.push(["aps": ["alert": "hi", "content-available": 1]], to: token, id: 1)
      #expect(await scene.told("a", "callback"))
      #expect(log(scene) == [""])
    }
  }
}
