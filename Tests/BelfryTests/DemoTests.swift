import Basics
import Phone
import PushPayload
import Testing

@testable import belfry

@Suite("The demo's claims")
struct DemoTests {
  /// The payload as the service makes it of the seeds' `ios` object (jpush.md §4.4).
  private func payload(_ push: SeedPush) -> [UInt8] {
    var aps = JSONObject()
    for member in push.ios.object?.members ?? [] {
      switch member.key {
      case "extras": continue
      case "content-available": aps["content-available"] = 1
      default: aps[member.key] = member.value
      }
    }
    var payload: JSONObject = ["aps": .object(aps)]
    for member in push.extras.members { payload[member.key] = member.value }
    return JSONValue.object(payload).encoded()
  }

  @Test("a phone of each generation does what the seeds say, step by step", arguments: DemoPhone.versions)
  func claims(version: IOSVersion) {
    var phone = Phone(DemoPhone.settings(version))
    var time = Instant(seconds: 1_796_000_000)
    func feed(_ events: [Phone.Event]) -> [TimelineEntry] {
      for event in events {
        time = time + .milliseconds(100)
        for effect in phone.handle(event, at: time) {
          guard case .registerForRemoteNotifications = effect else { continue }
          _ = phone.handle(.tokenIssued(bundleID: DemoPhone.bundleID, token: [1, 2, 3]), at: time)
        }
      }
      return phone.takeTimeline()
    }
    _ = feed(DemoPhone.firstLaunch)
    #expect(phone.token(of: DemoPhone.bundleID) == [1, 2, 3])
    for (index, step) in DemoStep.all.enumerated() {
      _ = feed(DemoPhone.bring(to: step.place))
      let silent = step.push.kind == .silent
      let push = DeliveredPayload(
        id: "\(index)", bundleID: DemoPhone.bundleID, pushType: silent ? .background : .alert,
        priority: silent ? .considerate : .immediate, bytes: payload(step.push))
      let result = DemoResult(
        step: step, version: version, atArrival: feed([.push(push)]), atAct: feed(DemoPhone.events(of: step.act)))
      let faults = result.faults().faults
      #expect(faults.isEmpty, "\(step.push.name), \(step.place.rawValue), \(step.act.rawValue): \(faults)")
    }
  }
}
