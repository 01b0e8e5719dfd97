import PushPayload
import Testing

/// The payloads that the three articles behind this project print. (S4 prints none.)
struct SeedPayload: Sendable, CustomTestStringConvertible {
  var name: String
  var isPlist = false
  var text: String
  /// What lint must say of it; the articles mean all of these to work.
  var codes: [LintCode] = []
  var kind: PushKind

  var testDescription: String { name }
  var bytes: [UInt8] { Array(text.utf8) }

  static let all: [SeedPayload] = [
    SeedPayload(
      name: "S0 ordinary push", isPlist: true,
      text: """
        {
        "_j_msgid"=200806057;//第三方附带的id，用于统计点击
        aps={
        alert="显示内容";
        badge=1;//App角标，可推送n、+n、-n来实现角标的固定、增加、减少
        sound=default;//推送声音
        };
        key1=value1;//自定义字段，可设置多组，用于处理内部逻辑
        key2=value2;
        }
        """, kind: .alert),
    SeedPayload(
      name: "S0 background push", isPlist: true,
      text: """
        {
        "_j_msgid"=2090737306;
        aps={
        alert="显示内容";
        badge=1;
        "content-available"=1;//必带字段
        sound=default;
        };
        key1=value1;
        }
        """, kind: .alertAndWake),
    SeedPayload(
      name: "S0 silent push", isPlist: true,
      text: """
        {
        "_j_msgid"=3938587719;
        aps={
        alert="";
        "content-available"=1;//必带字段
        };
        key1=value1;
        }
        """, codes: [.silentWithEmptyAlert], kind: .silentWithExtras),
    SeedPayload(
      name: "S2 basic structure",
      text: """
        {
        "aps": {
        "alert": {
        "title": "新消息",
        "body": "您有一条新的通知"
        },
        "badge": 1,
        "sound": "default",
        "content-available": 1
        },
        "customData": {
        "type": "message",
        "id": "12345"
        }
        }
        """, kind: .alertAndWake),
    fragment("S2 alert object", #""alert": {"title": "更新提示", "body": "您的应用程序有重要更新，请尽快下载。"}"#, .alert),
    fragment("S2 alert string", #""alert": "您有一条新消息。""#, .alert),
    fragment("S2 badge", #""badge": 5"#, .badgeOnly),
    fragment("S2 sound", #""sound": "default""#, .soundOnly),
    fragment("S2 content-available", #""content-available": 1"#, .silent),
    fragment("S2 mutable-content", #""alert": "您有一条新消息。", "mutable-content": 1"#, .alert),
    SeedPayload(
      name: "S2 customData", text: #"{"aps": {"alert": "a"}, "customData": {"type": "promotion", "id": "7890"}}"#,
      kind: .alert),
    SeedPayload(
      name: "S2 visible notification",
      text: """
        {
        "aps": {
        "alert": {
        "title": "重要提示",
        "body": "请及时查看最新活动信息。"
        },
        "badge": 3,
        "sound": "default"
        }
        }
        """, kind: .alert),
    SeedPayload(
      name: "S2 silent notification",
      text: """
        {
        "aps": {
        "content-available": 1
        },
        "customData": {
        "task": "sync"
        }
        }
        """, kind: .silentWithExtras),
  ]

  private static func fragment(_ name: String, _ members: String, _ kind: PushKind) -> SeedPayload {
    SeedPayload(name: name, text: "{\"aps\": {\(members)}}", kind: kind)
  }
}
