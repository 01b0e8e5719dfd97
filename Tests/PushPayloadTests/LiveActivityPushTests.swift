import Basics
import PushPayload
import Testing

@Suite("Writing a Live Activity push")
struct LiveActivityPushTests {
  static let now = Instant(seconds: 1_800_000_000)

  static let start = LiveActivityPush.start(
    .init(attributesType: "Match", attributes: ["id": 7], channel: "dGVzdA==", wantsToken: true),
    contentState: ["n": 0],
    alert: .init(
      title: .localized(key: "KICKOFF", arguments: ["Lin"], fallback: nil), body: .literal("Now"), sound: "whistle.caf"),
    at: now)

  @Test("says what each event needs, dates in seconds since 1970")
  func texts() {
    #expect(
      Self.start.json.text
        == #"{"aps":{"timestamp":1800000000,"event":"start","content-state":{"n":0},"attributes-type":"Match","attributes":{"id":7},"input-push-channel":"dGVzdA==","input-push-token":1,"alert":{"title":{"loc-key":"KICKOFF","loc-args":["Lin"]},"body":"Now","sound":"whistle.caf"}}}"#
    )
    let update = LiveActivityPush.update(
      contentState: ["n": 1], at: Self.now, staleDate: Self.now + .minutes(5), relevanceScore: 80)
    #expect(
      update.json.text
        == #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"n":1},"stale-date":1800000300,"relevance-score":80.0}}"#
    )
    let end = LiveActivityPush.end(contentState: ["n": 2], at: Self.now, dismissal: .at(Self.now))
    #expect(
      end.json.text
        == #"{"aps":{"timestamp":1800000000,"event":"end","content-state":{"n":2},"dismissal-date":1800000000}}"#)
    #expect(LiveActivityPush.end(contentState: nil, at: Self.now).json[JSONPath("aps", "dismissal-date")] == nil)
  }

  @Test("what is written right lints clean, and a phone starts, updates and ends by it")
  func understood() throws {
    let update = LiveActivityPush.update(contentState: ["n": 1], at: Self.now + .seconds(1))
    let end = LiveActivityPush.end(contentState: ["n": 2], at: Self.now + .seconds(2), dismissal: .at(Self.now))
    for push in [Self.start, update, end] { #expect(push.findings(isBroadcast: false, at: Self.now) == []) }
    var activity = try LiveActivity.started(
      by: Payload(bytes: Self.start.bytes), tokenType: "Match", at: Self.now)
    #expect(activity.channel == "dGVzdA==")
    let updated = activity.handle(.push(try Payload(bytes: update.bytes)), at: Self.now)
    #expect(updated == [.updated])
    let ended = activity.handle(.push(try Payload(bytes: end.bytes)), at: Self.now)
    #expect(ended.last == .dismissed(at: Self.now))
  }

  @Test("lint finds before sending what APNs or the phone would not take")
  func findings() {
    func codes(_ push: LiveActivityPush, isBroadcast: Bool = false) -> [LintCode] {
      push.findings(isBroadcast: isBroadcast, at: Self.now).filter { $0.severity == .error }.map(\.code)
    }
    #expect(codes(Self.start, isBroadcast: true) == [.pushTypeMismatch])
    #expect(codes(.update(contentState: [1], at: Self.now)) == [.wrongType])
    #expect(codes(.update(contentState: ["n": 1], at: Instant(seconds: Self.now.milliseconds))) == [.milliseconds])
    let large = LiveActivityPush.update(
      contentState: ["n": .string(String(repeating: "x", count: 4500))], at: Self.now)
    #expect(codes(large) == [.overLimit])
    #expect(codes(large, isBroadcast: true) == [], "a broadcast has room for 5,120 bytes")
    let badChannel = LiveActivityPush.start(
      .init(attributesType: "Match", attributes: [:], channel: "?"), contentState: [:],
      alert: .init(title: .literal("t"), body: .literal("b")), at: Self.now)
    #expect(codes(badChannel) == [.channelIDInvalid])
  }
}
