import PushPayload
import Testing

@Suite("The Python SDK's schedules, unmodified", .timeLimit(.minutes(5)))
struct JPushSDKScheduleTests {
  @Test("makes, lists, reads, changes and deletes schedules, in both zones", arguments: ["DEFAULT", "BJ"])
  func schedules(zone: String) async throws {
    let said = try await JPushSDKScene.with { try await $0.run(Self.script, zone) }
    #expect(said["made"] == [200, "一次", ["name", "schedule_id"]])
    #expect(said["listed"] == [2, 1, 1, [true, true]])
    #expect(said["beyond"] == [2, []])
    #expect(said["periodical"] == ["end", "frequency", "point", "start", "time", "time_unit"])
    #expect(said["put"] == ["renamed", false, "all"])
    #expect(said["messages"] == ["count": 0, "msgids": []])
    #expect(said["deleted"] == ["success", "success"])
    #expect(said["unknown"] == ["JPushFailure", 8104])
    #expect(said["past"] == ["JPushFailure", 8100])
    #expect(said["unauthorized"] == "Unauthorized")
  }

  static let script = """
    import datetime, requests
    from jpush import schedulepayload as payload
    client = jpush.JPush(key, secret, zone=words[0])
    schedules = client.create_schedule()
    push = client.create_push()
    push.audience = jpush.all_
    push.platform = jpush.all_
    push.notification = jpush.notification(alert="Hello")
    def day(count):
        return (datetime.datetime.now() + datetime.timedelta(days=count)).strftime("%Y-%m-%d %H:%M:%S")
    made = schedules.post_schedule(payload.schedulepayload("一次", True, payload.trigger(day(10)), push.payload))
    single = made.payload["schedule_id"]
    weekly = schedules.post_schedule(payload.schedulepayload(
        "weekly", True, payload.trigger("17:00:00", day(1), day(60), "week", 2, ["MON", "SUN"]),
        push.payload)).payload["schedule_id"]
    said["made"] = [made.status_code, made.payload["name"], sorted(made.payload)]
    listed = schedules.get_schedule_list().payload
    said["listed"] = [listed["total_count"], listed["total_pages"], listed["page"],
                      [one["schedule_id"] == id for one, id in zip(listed["schedules"], [single, weekly])]]
    beyond = schedules.get_schedule_list(2).payload
    said["beyond"] = [beyond["page"], beyond["schedules"]]
    said["periodical"] = sorted(schedules.get_schedule_by_id(weekly).payload["trigger"]["periodical"])
    put = schedules.put_schedule(payload.schedulepayload("renamed", False, payload.trigger(day(11))), single)
    said["put"] = [put.payload["name"], put.payload["enabled"], put.payload["push"]["audience"]]
    # The SDK's own get_msg_ids fails before it calls anybody.
    url = common.ZONES[words[0]]["SCHEDULE"] + single + "/msg_ids"
    said["messages"] = requests.get(url, auth=(key, secret)).json()
    said["deleted"] = [schedules.delete_schedule(id).payload for id in (single, weekly)]
    said["unknown"] = failure(lambda: schedules.get_schedule_by_id(single))
    said["past"] = failure(lambda: schedules.post_schedule(
        payload.schedulepayload("past", True, payload.trigger("2020-01-01 00:00:00"), push.payload)))
    stranger = jpush.JPush(key, "0" * 24)
    said["unauthorized"] = failure(lambda: stranger.create_schedule().get_schedule_list())
    """
}
