import Audience
import Basics
import BelfryTesting
import Delivery
import PushPayload
import PushService
import Testing

/// What of JPush's Python SDK is about many pushes, groups, reports and apps.
@Suite("The Python SDK jpush 3.4.1: batches, groups, reports, admin", .timeLimit(.minutes(5)))
struct JPushSDKReportTests {
  @Test("§12 batch_push_by_regid, batch_push_by_alias, the deprecated push")
  func batches() async throws {
    try await JPushSDKScene.with { scene in
      try await scene.register("1507bfd3f7c466c355c", number: 1)
      try await scene.register("161a3797c80884623dc", number: 2)
      let said = try await scene.run(
        """
        rids = ["1507bfd3f7c466c355c", "161a3797c80884623dc", "090c1f59f89"]
        client.create_device().set_deviceinfo(rids[0], jpush.device_alias("lin"))
        push = client.create_push()
        def single(target):
            return {"platform": "all", "target": target, "notification": jpush.notification(alert="Hello")}
        def answers(answer):
            assert answer.status_code == 200
            return [sorted(one) for one in answer.payload.values()]
        said["regid"] = answers(push.batch_push_by_regid([single(rid) for rid in rids]))
        said["alias"] = answers(push.batch_push_by_alias([single("lin"), single("ghost"), single("a b")]))
        said["empty"] = failure(lambda: push.batch_push_by_alias([single("lin")] * 1001))
        said["old"] = client.push({"platform": "all", "audience": "all", "notification": {"alert": "Hello"}})
        """)
      #expect(said["regid"] == [["msg_id"], ["msg_id"], ["error"]])
      #expect(said["alias"] == [["msg_id"], ["error"], ["error"]])
      #expect(said["empty"] == ["JPushFailure", 1003])
      #expect(said["old"] == .null)
      #expect(await scene.apns.received(5).count == 5)
    }
  }

  @Test("§12 GroupPush")
  func groups() async throws {
    try await JPushSDKScene.with { scene in
      try await scene.register("1507bfd3f7c466c355c", number: 1)
      let group = try await scene.service.createGroup(name: nil)
      try await scene.service.addApp(key: scene.app.appKey, toGroup: group.group.key)
      let said = try await scene.run(
        """
        group = jpush.GroupPush(words[0], words[1])
        push = group.create_push()
        push.audience = jpush.all_
        push.platform = jpush.all_
        push.notification = jpush.notification(alert="Hello")
        answer = push.send().payload
        said["keys"] = sorted(answer[key])
        said["id"] = answer["group_msgid"].isdigit()
        """, group.group.key, group.masterSecret)
      #expect(said["keys"] == ["msg_id", "sendno"])
      #expect(said["id"] == true)
    }
  }

  @Test("§12 each of Report's methods, in both zones", arguments: ["default", "bj"])
  func reports(zone: String) async throws {
    try await JPushSDKScene.with { scene in
      try await scene.register("1507bfd3f7c466c355c", number: 1)
      let said = try await scene.run(
        """
        import datetime, time
        client = jpush.JPush(key, secret, zone=words[0])
        push = client.create_push()
        push.audience = jpush.all_
        push.platform = jpush.all_
        push.notification = jpush.notification(alert="Hello")
        id = push.send().payload["msg_id"]
        report = client.create_report()
        ids = id + ",3289406737"
        for _ in range(500):
            received = report.get_received(ids).payload
            if received[0]["ios_apns_sent"] == 1:
                break
            time.sleep(0.01)
        said["received"] = [[one["ios_apns_sent"], one["ios_apns_received"], len(one)] for one in received]
        said["same"] = [one["msg_id"] for one in received] == ids.split(",")
        said["detail"] = [one["ios_apns_sent"] for one in report.get_received_detail(ids).payload]
        said["messages"] = [[len(one), one["ios"]["apns_target"]] for one in report.get_messages(ids).payload]
        said["messages_detail"] = [one["details"]["notification"]["sent"]
                                   for one in report.get_messages_detail(ids).payload]
        today = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=8)).strftime("%Y-%m-%d")
        users = report.get_users("DAY", today, 1).payload
        said["users"] = [users["time_unit"], users["items"][0]["ios"]]
        rids = ["1507bfd3f7c466c355c", "090c1f59f89"]
        said["status"] = report.get_status_message(id, rids, today).payload
        said["number"] = report.get_status_message(int(id), rids[0]).payload
        said["old"] = failure(lambda: report.get_users("DAY", "2016-04-10", "61"))
        said["bad"] = failure(lambda: report.get_received("x"))
        said["unauthorized"] = failure(lambda: jpush.JPush(key, "0" * 24).create_report().get_messages(id))
        """, zone)
      #expect(said["received"] == [[1, 0, 6], [.null, .null, 6]])
      #expect(said["same"] == true)
      #expect(said["detail"] == [1, .null])
      #expect(said["messages"] == [[4, 1], [4, .null]])
      #expect(said["messages_detail"] == [1, .null])
      #expect(said["users"] == ["DAY", ["new": 1, "online": 1, "active": 1]])
      #expect(said["status"] == ["1507bfd3f7c466c355c": ["status": 1], "090c1f59f89": ["status": 2]])
      #expect(said["number"] == ["1507bfd3f7c466c355c": ["status": 1]])
      #expect(said["old"] == ["JPushFailure", 3005])
      #expect(said["bad"] == ["JPushFailure", 3002])
      #expect(said["unauthorized"] == "Unauthorized")
    }
  }

  @Test("§12 Admin, whose host is written into the SDK: an adapter of the session sends it here")
  func admin() async throws {
    try await JPushSDKScene.with { scene in
      let developer = try await scene.service.createDeveloper(name: nil)
      let said = try await scene.run(
        """
        import requests
        class Here(requests.adapters.HTTPAdapter):
            def send(self, request, **options):
                request.url = request.url.replace("https://admin.jpush.cn/", base)
                return super().send(request, **options)
        admin = jpush.Admin(words[0], words[1])
        admin.session.mount("https://", Here())
        made = admin.create_app("Bell", "com.example.bell")
        said["made"] = [made.status_code, sorted(made.payload), made.payload["is_new_created"]]
        app = jpush.JPush(made.payload["app_key"], made.payload["master_secret"])
        said["works"] = app.create_push().get_cid(1).status_code
        said["again"] = admin.create_app("Bell", "com.example.bell", "group").payload["is_new_created"]
        said["deleted"] = admin.delete_app(made.payload["app_key"]).payload
        said["twice"] = admin.delete_app(made.payload["app_key"]).payload["error"]["code"]
        said["gone"] = failure(lambda: app.create_push().get_cid(1))
        said["bad"] = failure(lambda: admin.create_app("Bell", "no bundle"))
        """, developer.developer.key, developer.secret)
      #expect(said["made"] == [200, ["android_package", "app_key", "is_new_created", "master_secret"], true])
      #expect(said["works"] == 200)
      #expect(said["again"] == false)
      #expect(said["deleted"] == ["success": "Synchronized success"])
      #expect(said["twice"] == 1015)
      #expect(said["gone"] == "Unauthorized")
      #expect(said["bad"] == ["JPushFailure", 4003])
    }
  }
}
