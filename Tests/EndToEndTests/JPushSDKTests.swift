import Audience
import Basics
import BelfryTesting
import Bus
import Delivery
import Foundation
import HTTPAPI
import PushPayload
import PushService
import StoreSQLite
import Testing
import Transport

/// JPush's official Python SDK, as pip installs it, against the REST door.
@Suite("The Python SDK jpush 3.4.1, unmodified", .timeLimit(.minutes(5)))
struct JPushSDKTests {
  @Test("pushes, validates, reads and writes devices, and meets its own exceptions")
  func drivesTheSDK() async throws {
    let python = try await Self.run(Self.repository.appending(path: "script/python-venv"), [])
    try #require(python.status == 0, "script/python-venv: \(python.errors)")
    let folder = FileManager.default.temporaryDirectory.appending(path: "belfry-jpush-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    let apns = RecordingPushSender()
    let clock = SystemClock()
    let store = try await StoreSQLite.open(folder: folder.path)
    let service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 1, senders: { _, _ in apns })
    try await service.start()
    let app = try await service.createApp(bundleID: "com.example.chat", name: "Chat")
    let token = [UInt8](repeating: 0x5A, count: 32)
    let device = try await service.register(
      appKey: app.appKey, DeviceRegistration(token: token.hex, environment: .production))
    let server = try HTTPAPI(service: service, clock: clock).serve(on: Endpoint(host: "127.0.0.1", port: 0))

    let result = try await Self.run(
      URL(filePath: python.output.trimmingCharacters(in: .whitespacesAndNewlines)),
      ["-c", Self.script, "http://\(server.endpoint)/", app.appKey, app.masterSecret, device.registrationID])
    #expect(result.status == 0, "\(result.output)\n\(result.errors)")
    let pushes = result.status == 0 ? await apns.received(3) : apns.pushes.values
    await server.stop()
    await service.stop()
    await store.close()

    let said = try JSONReader.read(Array(result.output.utf8)).value.object ?? JSONObject()
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
    #expect(said["not_served"] == ["JPushFailure", 7010])
    #expect(said["too_large"] == ["JPushFailure", 1005])

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

  /// Calls the SDK as its documentation does and prints one JSON object of what came back.
  static let script = """
    import json, logging, sys
    import jpush
    from jpush import common

    logging.disable(logging.CRITICAL)
    base, key, secret, rid = sys.argv[1:5]
    v3 = base + "v3/"
    common.ZONES["DEFAULT"].update({
        "PUSH": v3, "REPORT": v3, "DEVICE": v3 + "devices/", "ALIAS": v3 + "aliases/", "TAG": v3 + "tags/",
        "SCHEDULE": v3 + "schedules/", "ADMIN": base + "v1/"})
    client = jpush.JPush(key, secret)
    said = {"msg_ids": []}

    def failure(call):
        try:
            call()
        except common.JPushFailure as fault:
            assert fault.details, "a message"
            return ["JPushFailure", fault.error_code]
        except Exception as fault:
            return type(fault).__name__
        return "no failure"

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
    said["not_served"] = failure(device.get_taglist)
    said["too_large"] = failure(push(jpush.all_, notification=jpush.notification(alert="x" * (5 << 20))).send)
    print(json.dumps(said))
    """

  // MARK: processes

  static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs a program to its end on a thread of its own.
  static func run(_ program: URL, _ words: [String]) async throws -> (status: Int32, output: String, errors: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            let process = Process()
            process.executableURL = program
            process.arguments = words
            let (output, errors) = (Pipe(), Pipe())
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            let said = output.fileHandleForReading.readDataToEndOfFile()
            let complained = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (
              process.terminationStatus, String(decoding: said, as: UTF8.self),
              String(decoding: complained, as: UTF8.self)
            )
          })
      }
    }
  }
}
