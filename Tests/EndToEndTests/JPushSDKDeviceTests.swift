import PushPayload
import Testing

/// JPush's Device API as its Python SDK calls it, and what the SDK's own tests want of a server (jpush.md §14).
@Suite("The Python SDK jpush 3.4.1 and devices", .timeLimit(.minutes(5)))
struct JPushSDKDeviceTests {
  @Test("§12 each of Device's methods, in both zones", arguments: ["default", "bj"])
  func methods(zone: String) async throws {
    try await JPushSDKScene.with { scene in
      try await scene.register("1507bfd3f7c466c355c", number: 1)
      try await scene.register("161a3797c80884623dc", number: 2)
      let said = try await scene.run(Self.methods, zone)
      #expect(said["info"] == ["tags": ["tag1", "北@!$&*+=.|"], "alias": "lin", "mobile": "18588232140"])
      #expect(said["writes"] == [["success", 200], ["success", 200], ["success", 200], ["success", 200]])
      #expect(said["tags"] == ["tags": ["ddd", "tag1", "tageee", "北@!$&*+=.|"]])
      #expect(said["exists"] == [["result": true], ["result": false]])
      #expect(said["alias"] == ["registration_ids": ["1507bfd3f7c466c355c"]])
      #expect(said["status"]?.object?["1507bfd3f7c466c355c"] == ["online": true])
      #expect(said["status"]?.object?["090c1f59f89"] == [:])
      #expect(said["deleted"] == [["success", 200], ["success", 200], ["success", 200], ["success", 200]])
      #expect(said["after"] == ["tags": ["tag1"], "alias": .null, "mobile": "18588232140"])
      #expect(said["no_alias"] == ["registration_ids": []])
      #expect(said["illegal"] == [7013, ["090c1f59f89"]])
      #expect(
        said["faults"]
          == [["JPushFailure", 7002], ["JPushFailure", 7002], ["JPushFailure", 7002], ["JPushFailure", 7002]])
      #expect(said["unauthorized"] == ["Unauthorized", "Unauthorized", "Unauthorized"])
    }
  }

  private static let methods = """
    zone = words[0]
    first, second, stranger = "1507bfd3f7c466c355c", "161a3797c80884623dc", "090c1f59f89"
    client = jpush.JPush(key, secret, zone=zone)
    device = client.create_device()
    def write(answer):
        return [answer.payload, answer.status_code]
    said["writes"] = [
        write(device.set_deviceinfo(first, dict(
            jpush.device_tag(jpush.add("tag1", "北@!$&*+=.|"), jpush.remove("tag3")), **jpush.device_alias("lin")))),
        write(device.set_devicemobile(first, jpush.device_mobile("18588232140"))),
        write(device.update_tagusers("ddd", jpush.device_regid(jpush.add(first, second)))),
        write(device.update_tagusers("tageee", {"registration_ids": {"add": [second], "remove": [first]}})),
    ]
    said["info"] = None
    said["tags"] = device.get_taglist().payload
    said["exists"] = [device.check_taguserexist("ddd", first).payload,
                      device.check_taguserexist("tageee", first).payload]
    said["alias"] = device.get_aliasuser("lin", "ios,android").payload
    said["status"] = device.get_device_status([first, stranger]).payload
    device.delete_tag("ddd", "ios")
    said["info"] = device.get_deviceinfo(first).payload
    said["deleted"] = [
        write(device.delete_tag("北@!$&*+=.|", "ios,android")), write(device.delete_tag("never", "ios")),
        write(device.delete_alias("lin", "ios")), write(device.delete_alias("never"))]
    said["after"] = device.get_deviceinfo(first).payload
    said["no_alias"] = device.get_aliasuser("lin").payload
    try:
        device.update_tagusers("x", {"registration_ids": {"add": [first, stranger]}})
    except common.JPushFailure as fault:
        said["illegal"] = [fault.error_code, fault.error["illegal_rids"]]
    said["faults"] = [
        failure(lambda: device.get_deviceinfo(stranger)),
        failure(lambda: device.set_deviceinfo(stranger, jpush.device_alias("x"))),
        failure(lambda: device.check_taguserexist("ddd", stranger)),
        failure(lambda: device.delete_tag("a-b", "ios"))]
    wrong = jpush.JPush(key, "0" * 24, zone=zone).create_device()
    said["unauthorized"] = [
        failure(wrong.get_taglist), failure(lambda: wrong.delete_alias("x")),
        failure(lambda: wrong.get_device_status([first]))]
    """

  @Test("§14 what the SDK's own tests of devices and audiences want, in their order, against a seeded app")
  func upstream() async throws {
    try await JPushSDKScene.with { scene in
      try await scene.register("1507bfd3f7c466c355c", number: 1)
      try await scene.register("0900e8d85ef", number: 2)
      let said = try await scene.run(Self.upstream)
      #expect(
        said["statuses"]
          == [200, 200, 200, 200, ["JPushFailure", 7002], ["JPushFailure", 7002], 200, 200, 200])
      #expect(said["pushed"] == [200, 200])
    }
  }

  /// The seed of §14 (a device with alias2 and tag2), then the calls: the devices first, since they delete alias1.
  private static let upstream = """
    device = client.create_device()
    device.set_deviceinfo("0900e8d85ef", dict(
        jpush.device_tag(jpush.add("tag2"), jpush.remove()), **jpush.device_alias("alias2")))
    rid, old = "1507bfd3f7c466c355c", "090c1f59f89"
    entity = jpush.device_tag(jpush.add("ddd", "tageee"), jpush.remove("dddd"))
    said["statuses"] = [
        device.set_deviceinfo(rid, dict(entity, **jpush.device_alias("alias1"))).status_code,
        device.set_devicemobile(rid, jpush.device_mobile("18588232140")).status_code,
        device.get_taglist().status_code,
        device.get_aliasuser("alias1", "android,ios").status_code,
        failure(lambda: device.get_deviceinfo(old)),
        failure(lambda: device.check_taguserexist("ddd", old)),
        device.delete_tag("ddd", "ios,android").status_code,
        device.delete_alias("alias1", "ios,android").status_code,
        device.get_device_status([rid, old]).status_code,
    ]
    push = client.create_push()
    push.audience = jpush.audience(jpush.tag("tag1", "tag2"), jpush.alias("alias1", "alias2"))
    push.notification = jpush.notification(alert="Hello world with audience!")
    push.platform = jpush.all_
    said["pushed"] = [push.send().status_code]
    push.audience = jpush.all_
    push.notification = jpush.notification(alert="!hello python jpush api")
    said["pushed"].append(push.send().status_code)
    """
}
