import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

/// JPush's official Python SDK, as pip installs it, against the REST door.
@Suite("The Python SDK jpush 3.4.1, unmodified", .timeLimit(.minutes(5)))
struct JPushSDKTests {
  @Test("pushes, validates, reads and writes devices, and meets its own exceptions")
  func drivesTheSDK() async throws {
    try await JPushSDKScene.with { scene in
      let token = [UInt8](repeating: 0x5A, count: 32)
      let device = try await scene.service.register(
        appKey: scene.app.appKey, DeviceRegistration(token: token.hex, environment: .production))
      let said = try await scene.run(Self.script, device.registrationID)
      expectSaid(said)
      try expectPushes(await scene.apns.received(3), token, said)
    }
  }

  func expectSaid(_ said: JSONObject) {
    #expect(said["set"] == ["success", 200])
    #expect(said["info"] == ["tags": ["tag1", "tag2"], "alias": "lin", "mobile": "18588232140"])
    #expect(said["validate"]?.object?.members.map(\.key).sorted() == ["msg_id", "sendno"])
    #expect(said["cids"] == 2)
    #expect(said["sendno"] == "7")
    #expect(said["unauthorized"] == "Unauthorized")
    #expect(said["unauthorized_device"] == "Unauthorized")
    #expect(said["nobody"] == ["JPushFailure", 1011])
    #expect(said["bad_alias"] == ["JPushFailure", 1003])
    #expect(said["no_audience"] == ["JPushFailure", 1002])
    #expect(said["unknown_device"] == ["JPushFailure", 7002])
    #expect(said["too_large"] == ["JPushFailure", 1005])
  }

  func expectPushes(_ pushes: [OutgoingPush], _ token: [UInt8], _ said: JSONObject) throws {
    #expect(pushes.map(\.token) == [token, token, token])
    #expect(pushes.allSatisfy { $0.topic == "com.example.chat" })
    let ids = said["msg_ids"]?.array?.compactMap(\.string) ?? []
    #expect(Set(ids).count == 3)
    for (index, push) in pushes.enumerated() {
      let payload = try #require(try JSONReader.read(push.payload).value.object)
      #expect(payload["_j_msgid"]?.number.map { ids.contains($0.literal) } == true)
      #expect(payload["aps"]?.object?["alert"] != nil, "\(index)")
    }
    let full = try #require(pushes.first { $0.collapseID == "c1" })
    let payload = try JSONReader.read(full.payload).value.object
    let aps = payload?["aps"]?.object
    #expect(aps?["alert"] == ["title": "钟", "body": "敲响了 🔔"])
    #expect(aps?["badge"] == 1)
    #expect(aps?["sound"] == "bell.caf")
    #expect(aps?["content-available"] == 1)
    #expect(aps?["mutable-content"] == 1)
    #expect(aps?["category"] == "CHAT")
    #expect(aps?["thread-id"] == "t1")
    #expect(aps?["interruption-level"] == "time-sensitive")
    #expect(payload?["room"] == 42)
    #expect(payload?["nested"] == ["a": [1, 2, .null]])
  }

  /// Calls the SDK as its documentation does.
  static let script = """
    rid = words[0]
    said["msg_ids"] = []

    def push(audience, platform=jpush.all_, **fields):
        push = client.create_push()
        push.audience = audience
        push.platform = platform
        push.notification = jpush.notification(alert="Hello")
        for name, value in fields.items():
            setattr(push, name, value)
        return push

    def sent(push):
        answer = push.send()
        assert answer.status_code == 200
        said["msg_ids"].append(answer.payload["msg_id"])
        return answer.payload

    device = client.create_device()
    answer = device.set_deviceinfo(rid, dict(
        jpush.device_tag(jpush.add("tag1", "tag2"), jpush.remove("tag3")), **jpush.device_alias("lin"),
        **jpush.device_mobile("18588232140")))
    said["set"] = [answer.payload, answer.status_code]
    said["info"] = device.get_deviceinfo(rid).payload

    said["validate"] = push(jpush.all_).send_validate().payload
    said["cids"] = len(client.create_push().get_cid(2, "push").payload["cidlist"])

    sent(push(jpush.all_))
    sent(push(jpush.audience(jpush.tag("tag1", "tag9"), jpush.alias("lin")), jpush.platform("ios", "android")))
    ios = jpush.ios(
        alert={"title": "钟", "body": "敲响了 🔔"}, sound="bell.caf", badge="+1", content_available=True,
        mutable_content=True, category="CHAT", thread_id="t1", interruption_level="time-sensitive",
        extras={"room": 42, "nested": {"a": [1, 2, None]}})
    answer = sent(push(
        jpush.audience(jpush.registration_id(rid)), notification=jpush.notification(ios=ios),
        options={"sendno": 7, "time_to_live": 60, "apns_collapse_id": "c1", "apns_production": True}))
    said["sendno"] = answer["sendno"]

    stranger = jpush.JPush(key, "0" * 24)
    wrong = push(jpush.all_)
    wrong._jpush = stranger
    said["unauthorized"] = failure(wrong.send)
    said["unauthorized_device"] = failure(lambda: stranger.create_device().get_deviceinfo(rid))
    said["nobody"] = failure(push(jpush.audience(jpush.alias("ghost"))).send)
    said["bad_alias"] = failure(push(jpush.audience(jpush.alias("a b"))).send)
    said["no_audience"] = failure(push(None).send)
    said["unknown_device"] = failure(lambda: device.get_deviceinfo("090c1f59f89"))
    said["too_large"] = failure(push(jpush.all_, notification=jpush.notification(alert="x" * (5 << 20))).send)
    """
}
