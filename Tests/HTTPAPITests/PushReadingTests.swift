import Audience
import Basics
import PushPayload
import PushService
import Testing

@testable import HTTPAPI

@Suite("A push's body")
struct PushReadingTests {
  static func read(_ text: String) throws -> PushOrder { try PushReading.read(Array(text.utf8)) }

  /// A push to everybody but for what is given.
  static func body(audience: String = "\"all\"", ios: String? = nil, options: String? = nil) -> String {
    let notification = ios.map { "{\"alert\":\"shared\",\"ios\":\($0)}" } ?? "{\"alert\":\"shared\"}"
    return
      "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":\(notification)\(options.map { ",\"options\":\($0)" } ?? "")}"
  }

  // MARK: what is taken

  static let audiences: [(String, AudienceExpression)] = [
    ("\"all\"", .everyone),
    ("{\"tag\":[\"a\",\"b\"]}", .any([.tag("a"), .tag("b")])),
    ("{\"tag_and\":[\"a\",\"b\"]}", .all([.tag("a"), .tag("b")])),
    ("{\"tag_not\":[\"a\"]}", .not(.any([.tag("a")]))),
    ("{\"alias\":[\"lin\"],\"tag\":[]}", .any([.alias("lin")])),
    (
      "{\"tag\":[\"a\"],\"tag_and\":[\"b\"],\"tag_not\":[\"c\"],\"alias\":[\"d\"],\"registration_id\":[\"0e\"]}",
      .all([
        .any([.tag("a")]), .all([.tag("b")]), .not(.any([.tag("c")])), .any([.alias("d")]),
        .any([.registrationID("0e")]),
      ])
    ),
    ("{\"alias\":[\"北京_A@!#$&*+=.|￥\"]}", .any([.alias("北京_A@!#$&*+=.|￥")])),
  ]

  @Test("§4.3 audience: keys combine by AND, an empty array is as if absent", arguments: audiences.indices)
  func readsAudience(index: Int) throws {
    #expect(try Self.read(Self.body(audience: Self.audiences[index].0)).audience == Self.audiences[index].1)
  }

  static let badges: [(String, BadgeChange)] = [
    ("5", .set(5)), ("0", .set(0)), ("99999", .set(99_999)), ("\"5\"", .set(5)), ("\"+1\"", .add(1)),
    ("\"-3\"", .add(-3)), ("\"\"", .set(0)), ("\"0\"", .set(0)), ("\"+0\"", .add(0)),
  ]

  @Test("§4.4 badge forms", arguments: badges.indices)
  func readsBadges(index: Int) throws {
    let (text, badge) = Self.badges[index]
    #expect(try Self.read(Self.body(ios: "{\"badge\":\(text)}")).badge == badge)
  }

  @Test("§4.4 everything an ios object may say")
  func readsIOS() throws {
    let order = try Self.read(
      Self.body(
        ios: """
          {"alert":{"title":"T","body":"B","loc-args":["x"]},"sound":{"critical":1,"name":"s.caf","volume":0.5},
           "badge":"+1","content-available":1,"mutable-content":true,"category":"c","thread-id":"t",
           "interruption-level":"time-sensitive","extras":{"k":[1,null]}}
          """))
    #expect(order.alert == ["title": "T", "body": "B", "loc-args": ["x"]])
    #expect(order.sound?.object?["name"] == "s.caf")
    #expect(order.contentAvailable)
    #expect(order.mutableContent)
    #expect(order.category == "c")
    #expect(order.threadID == "t")
    #expect(order.interruptionLevel == "time-sensitive")
    #expect(order.extras == ["k": [1, .null]])
    #expect(order.warnings == [])
  }

  @Test("§4.4 the platform's own alert wins; without an ios object neither badge nor sound is set")
  func prefersOwnAlert() throws {
    #expect(try Self.read(Self.body(ios: "{\"alert\":\"own\"}")).alert == "own")
    let shared = try Self.read(Self.body())
    #expect(shared.alert == "shared")
    #expect(shared.badge == nil)
    #expect(shared.sound == nil)
    #expect(try Self.read(Self.body(ios: "{}")).alert == "shared")
  }

  @Test("§4.8 options: defaults, and the words for true and false that JPush's examples have")
  func readsOptions() throws {
    let plain = try Self.read(Self.body())
    #expect(plain.production)
    #expect(plain.timeToLive == nil)
    #expect(plain.sendNumber == nil)
    let order = try Self.read(
      Self.body(
        options:
          "{\"sendno\":18,\"time_to_live\":0,\"apns_collapse_id\":\"c\",\"apns_production\":\"false\",\"classification\":0}"
      ))
    #expect(order.sendNumber == 18)
    #expect(order.timeToLive == 0)
    #expect(order.collapseID == "c")
    #expect(!order.production)
    #expect(order.warnings == [])
  }

  @Test("null stands for absent, as SDKs write it")
  func takesNullForAbsent() throws {
    let order = try Self.read(
      """
      {"platform":["ios"],"audience":{"tag":null,"alias":["lin"]},"notification":{"alert":"a","ios":null,"android":null},
       "message":null,"options":{"sendno":null,"apns_production":null},"cid":null}
      """)
    #expect(order.audience == .any([.alias("lin")]))
    #expect(order.production)
  }

  @Test("what is not for iPhones, or comes later, is taken and told")
  func warns() throws {
    let order = try Self.read(
      """
      {"platform":"all","audience":"all","notification":{"alert":"a","android":{"alert":"x"},"winphone":{"alert":"x"}},
       "message":{"msg_content":"m"},"sms_message":{"temp_id":1,"delay_time":0},
       "options":{"big_push_duration":5,"third_party_channel":{"xiaomi":{"any":1}},"brand_new_option":1}}
      """)
    #expect(
      order.warnings == [
        "notification.android is ignored: only iOS devices are served",
        "notification.winphone is ignored: only iOS devices are served",
        "options.brand_new_option is ignored: unknown",
        "sms_message is ignored: no text messages are sent",
      ])
  }

  @Test("C45 extras keep every digit, the order of keys, null and text")
  func keepsBytes() throws {
    let extras =
      #"{"c":"aa+bb/cc==","n":9007199254740993,"f":1.10,"e":"👨‍👩‍👧‍👦 ’ \#u{2028}","z":null,"o":{"b":1,"a":2}}"#
    let order = try Self.read(Self.body(ios: "{\"extras\":\(extras)}"))
    #expect(String(decoding: JSONValue.object(order.extras).encoded(), as: UTF8.self) == extras)
    let body = Self.body(ios: "{\"extras\":\(extras)}")
    #expect(order.original == Array(body.utf8))
  }

  // MARK: what is refused

  struct Refusal: Sendable {
    var what: String
    var body: String
    var code: Int
    var place: String?
    /// Words that the message must hold.
    var says: String

    init(_ what: String, _ body: String, _ code: Int, at place: String?, says: String = "") {
      self.what = what
      self.body = body
      self.code = code
      self.place = place
      self.says = says
    }
  }

  static let refusals =
    matrix + numbersAndWords
    + invisible.map { Refusal("C30 \($0.0)", body(audience: $0.1), 1003, at: $0.2, says: $0.3) }

  /// §4.10, in its order.
  @Test("§4.5 a message, alone or beside a notification, as it was written")
  func readsMessages() throws {
    let alone = try Self.read(
      """
      {"platform":"all","audience":"all","message":{"msg_content":"m","title":"t","content_type":"text",
       "extras":{"n":9007199254740993,"z":null}}}
      """)
    #expect(alone.isMessageAlone && alone.alert == nil)
    #expect(
      alone.message
        == MessageContent(
          content: "m", title: "t", contentType: "text",
          extras: ["n": .number(JSONNumber(9_007_199_254_740_993 as Int64)), "z": .null]))
    let both = try Self.read(
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\"},\"message\":{\"msg_content\":\"m\"}}"
    )
    #expect(!both.isMessageAlone && both.alert == "a" && both.message == MessageContent(content: "m"))
  }

  static let matrix = [
    Refusal("§4.10 no platform", "{\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1002, at: "platform"),
    Refusal("§4.10 no audience", "{\"platform\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1002, at: "audience"),
    Refusal(
      "§12 audience null (a Push without one in Python)",
      "{\"platform\":\"all\",\"audience\":null,\"notification\":{\"alert\":\"a\"}}", 1002, at: "audience"),
    Refusal("§4.10 nothing to say", "{\"platform\":\"all\",\"audience\":\"all\"}", 1002, at: "notification"),
    Refusal(
      "§4.10 message without content",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\"},\"message\":{}}", 1002,
      at: "message.msg_content"),
    Refusal(
      "a message that is no object", "{\"platform\":\"all\",\"audience\":\"all\",\"message\":\"m\"}", 1003,
      at: "message"),
    Refusal(
      "a key of a message that is near a real one",
      "{\"platform\":\"all\",\"audience\":\"all\",\"message\":{\"msg_content\":\"m\",\"contenttype\":\"t\"}}", 1009,
      at: "message.contenttype", says: "content_type"),
    Refusal(
      "§4.10 unknown platform word",
      "{\"platform\":\"all_platform\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1003, at: "platform",
      says: "all_platform"),
    Refusal(
      "unknown platform in an array",
      "{\"platform\":[\"ios\",\"adroid\"],\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1003,
      at: "platform[1]", says: "Did you mean android?"),
    Refusal(
      "no platform in the array", "{\"platform\":[],\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1003,
      at: "platform"),
    Refusal(
      "§4.10 unknown audience word", body(audience: "\"everybody\""), 1003, at: "audience", says: "everybody"),
    Refusal(
      "§4.10 notification not an object", "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":\"hi\"}", 1003,
      at: "notification"),
    Refusal("§4.10 ios not an object", body(ios: "\"hi\""), 1003, at: "notification.ios"),
    Refusal(
      "§4.10 android not an object",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\",\"android\":[]}}", 1003,
      at: "notification.android"),
    Refusal(
      "§4.10 builder_id not a number",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"alert\":\"a\",\"android\":{\"builder_id\":\"1\"}}}",
      1003, at: "notification.android.builder_id"),
    Refusal(
      "§4.10 ios without any alert",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"ios\":{\"badge\":1}}}", 1003,
      at: "notification.ios", says: "silent push"),
    Refusal(
      "§4.10 android without any alert",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"android\":{}}}", 1003, at: "notification.android"),
    Refusal(
      "§4.10 hmos empty", "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"hmos\":{}}}", 1002,
      at: "notification.hmos.alert"),
    Refusal(
      "nothing for an iPhone",
      "{\"platform\":\"all\",\"audience\":\"all\",\"notification\":{\"android\":{\"alert\":\"a\"}}}", 1003,
      at: "notification"),
    Refusal(
      "no iPhone among the platforms",
      "{\"platform\":[\"android\"],\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}", 1011, at: "platform"),
    Refusal("§4.10 an empty value in an array", body(audience: "{\"tag\":[\"a\",\"\"]}"), 1003, at: "audience.tag[1]"),
    Refusal("not JSON", "{\"platform\":", 1003, at: "line 1, column 13", says: "not JSON"),
    Refusal("no body", "", 1003, at: "line 1, column 1"),
    Refusal("a body that is no object", "[1]", 1003, at: nil, says: "an array"),
    Refusal(
      "a key that comes twice",
      "{\"platform\":\"all\",\"audience\":{\"alias\":[\"lin\"]},\"audience\":\"all\",\"notification\":{\"alert\":\"a\"}}",
      1003, at: "audience", says: "twice"),
    Refusal(
      "a key that comes twice, deep in extras", body(ios: "{\"extras\":{\"o\":{\"a\":1,\"a\":2}}}"), 1003,
      at: "notification.ios.extras.o.a"),
    Refusal(
      "a depth bomb", String(repeating: "[", count: 100_000), 1003, at: "line 1, column 65", says: ""),
    Refusal("an empty audience", body(audience: "{}"), 1003, at: "audience", says: "nobody"),
    Refusal("only empty arrays", body(audience: "{\"tag\":[],\"alias\":[]}"), 1003, at: "audience", says: "nobody"),
    Refusal("tag_not of nothing is not everybody", body(audience: "{\"tag_not\":[]}"), 1003, at: "audience"),
    Refusal("§4.3 twenty-one tags", body(audience: "{\"tag\":[\(list(21))]}"), 1003, at: "audience.tag", says: "21"),
    Refusal(
      "§4.3 1,001 aliases", body(audience: "{\"alias\":[\(list(1001))]}"), 1003, at: "audience.alias", says: "1001"),
    Refusal("1 MB of tags", body(audience: "{\"tag\":[\(list(200_000))]}"), 1003, at: "audience.tag", says: "200000"),
    Refusal(
      "one tag of 1 MB", body(audience: "{\"tag\":[\"\(String(repeating: "x", count: 1 << 20))\"]}"), 1003,
      at: "audience.tag[0]", says: "1048576 bytes"),
    Refusal("two segments", body(audience: "{\"segment\":[\"s\",\"t\"]}"), 1003, at: "audience.segment"),
    Refusal("a test without a variant", body(audience: "{\"abtest\":[\"s\"]}"), 1003, at: "audience.abtest[0]"),
    Refusal("a tag outside an array", body(audience: "{\"tag\":\"a\"}"), 1003, at: "audience.tag", says: "array"),
  ]

  static let numbersAndWords = [
    Refusal(
      "C35 Audience", "{\"platform\":\"all\",\"Audience\":{\"alias\":[\"lin\"]},\"notification\":{\"alert\":\"a\"}}",
      1009,
      at: "Audience", says: "Did you mean audience?"),
    Refusal(
      "C35 tags_and", body(audience: "{\"tags_and\":[\"a\"]}"), 1009, at: "audience.tags_and",
      says: "Did you mean tag_and?"),
    Refusal(
      "C35 time_to_live as text", body(options: "{\"time_to_live\":\"3600\"}"), 1003, at: "options.time_to_live",
      says: "without quotes"),
    Refusal(
      "C35 apns_prodution", body(options: "{\"apns_prodution\":false}"), 1009, at: "options.apns_prodution",
      says: "Did you mean apns_production?"),
    Refusal(
      "§4.10 content_available", body(ios: "{\"content_available\":1}"), 1009, at: "notification.ios.content_available",
      says: "Did you mean content-available?"),
    Refusal(
      "§4.10 build_id in ios", body(ios: "{\"build_id\":1}"), 1009, at: "notification.ios.build_id", says: "Known here"),
    Refusal(
      "alert.Title", body(ios: "{\"alert\":{\"Title\":\"t\"}}"), 1009, at: "notification.ios.alert.Title",
      says: "Did you mean title?"),
    Refusal("alert as number", body(ios: "{\"alert\":5}"), 1003, at: "notification.ios.alert", says: "a number (5)"),
    Refusal(
      "loc-args of numbers", body(ios: "{\"alert\":{\"loc-args\":[1]}}"), 1003,
      at: "notification.ios.alert.loc-args[0]"),
    Refusal("sound as number", body(ios: "{\"sound\":1}"), 1003, at: "notification.ios.sound"),
    Refusal("volume 2", body(ios: "{\"sound\":{\"volume\":2}}"), 1003, at: "notification.ios.sound.volume"),
    Refusal("badge auto", body(ios: "{\"badge\":\"auto\"}"), 1003, at: "notification.ios.badge", says: "auto"),
    Refusal("badge 100000", body(ios: "{\"badge\":100000}"), 1003, at: "notification.ios.badge"),
    Refusal("badge -1", body(ios: "{\"badge\":-1}"), 1003, at: "notification.ios.badge"),
    Refusal("badge 1.0", body(ios: "{\"badge\":1.0}"), 1003, at: "notification.ios.badge"),
    Refusal("badge true", body(ios: "{\"badge\":true}"), 1003, at: "notification.ios.badge"),
    Refusal("badge + 1", body(ios: "{\"badge\":\"+ 1\"}"), 1003, at: "notification.ios.badge"),
    Refusal(
      "content-available yes", body(ios: "{\"content-available\":\"true\"}"), 1003,
      at: "notification.ios.content-available"),
    Refusal(
      "interruption level", body(ios: "{\"interruption-level\":\"time_sensitive\"}"), 1003,
      at: "notification.ios.interruption-level", says: "Did you mean time-sensitive?"),
    Refusal("extras an array", body(ios: "{\"extras\":[]}"), 1003, at: "notification.ios.extras"),
    Refusal("extras aps", body(ios: "{\"extras\":{\"aps\":{}}}"), 1003, at: "notification.ios.extras.aps"),
    Refusal(
      "extras _j_msgid", body(ios: "{\"extras\":{\"_j_msgid\":1}}"), 1003, at: "notification.ios.extras._j_msgid"),
    Refusal("sendno beyond int32", body(options: "{\"sendno\":2147483648}"), 1003, at: "options.sendno"),
    Refusal(
      "time_to_live above ten days", body(options: "{\"time_to_live\":864001}"), 1003, at: "options.time_to_live"),
    Refusal("time_to_live below zero", body(options: "{\"time_to_live\":-1}"), 1003, at: "options.time_to_live"),
    Refusal("time_to_live 1e3", body(options: "{\"time_to_live\":1e3}"), 1003, at: "options.time_to_live"),
    Refusal(
      "C15 collapse id of 65 bytes", body(options: "{\"apns_collapse_id\":\"\(String(repeating: "x", count: 65))\"}"),
      1003, at: "options.apns_collapse_id", says: "65 bytes"),
    Refusal(
      "C15 collapse id of 22 Chinese characters",
      body(options: "{\"apns_collapse_id\":\"\(String(repeating: "北", count: 22))\"}"), 1003,
      at: "options.apns_collapse_id", says: "66 bytes"),
    Refusal(
      "a collapse id with a line break", body(options: "{\"apns_collapse_id\":\"a\\nb\"}"), 1003,
      at: "options.apns_collapse_id", says: "U+000A"),
    Refusal("apns_production 0", body(options: "{\"apns_production\":0}"), 1003, at: "options.apns_production"),
    Refusal(
      "jpush.options() wraps once more", body(options: "{\"options\":{\"apns_production\":false}}"), 1003,
      at: "options.options"),
    Refusal("options an array", body(options: "[]"), 1003, at: "options"),
    Refusal(
      "big_push_duration beyond JPush's longest", body(options: "{\"big_push_duration\":1401}"), 1003,
      at: "options.big_push_duration"),
  ]

  /// What was sent, the audience, the place, what must be said.
  static let invisible = [
    ("id with a leading space", "{\"registration_id\":[\" 0e\"]}", "audience.registration_id[0]", "U+0020"),
    ("id with a line break", "{\"registration_id\":[\"0e\\n\"]}", "audience.registration_id[0]", "U+000A"),
    (
      "id with nothing to be seen", "{\"registration_id\":[\"0a\",\"0\u{200B}e\"]}", "audience.registration_id[1]",
      "zero width space (U+200B) at character 2"
    ),
    ("alias 46 as number", "{\"alias\":[46]}", "audience.alias[0]", "must be a string"),
    ("alias user,1", "{\"alias\":[\"user,1\"]}", "audience.alias[0]", "',' comma (U+002C) at character 5"),
    ("alias a b", "{\"alias\":[\"a b\"]}", "audience.alias[0]", "space (U+0020) at character 2"),
    ("alias emoji", "{\"alias\":[\"😀\"]}", "audience.alias[0]", "grinning face (U+1F600)"),
    ("alias with a hyphen", "{\"alias\":[\"a-b\"]}", "audience.alias[0]", "hyphen-minus"),
    ("alias of 42 bytes", "{\"alias\":[\"\(String(repeating: "北", count: 14))\"]}", "audience.alias[0]", "42 bytes"),
  ]

  static func list(_ count: Int) -> String { (0..<count).map { "\"t\($0)\"" }.joined(separator: ",") }

  @Test("is refused with code, place and a remedy", arguments: refusals.indices)
  func refuses(index: Int) {
    let refusal = Self.refusals[index]
    do {
      _ = try PushReading.read(Array(refusal.body.utf8))
      Issue.record("\(refusal.what) was taken")
    } catch {
      #expect(error.code.rawValue == refusal.code, "\(refusal.what): \(error)")
      #expect(error.place == refusal.place, "\(refusal.what): \(error)")
      #expect(refusal.says.isEmpty || error.description.contains(refusal.says), "\(refusal.what): \(error)")
      #expect(error.remedy.hasSuffix(".") || error.remedy.hasSuffix("?"), "\(refusal.what): \(error.remedy)")
      #expect(error.description.utf8.count < 500, "\(refusal.what)")
    }
  }

  @Test("C30 aliases of 40 bytes pass, \"46\" as text too", arguments: [String(repeating: "北", count: 13) + "a", "46"])
  func takesLegalAliases(alias: String) throws {
    #expect(try Self.read(Self.body(audience: "{\"alias\":[\"\(alias)\"]}")).audience == .any([.alias(alias)]))
  }

  @Test("C15 collapse ids of 64 letters and of 21 Chinese characters pass")
  func takesLegalCollapseIDs() throws {
    for id in [String(repeating: "x", count: 64), String(repeating: "北", count: 21)] {
      #expect(try Self.read(Self.body(options: "{\"apns_collapse_id\":\"\(id)\"}")).collapseID == id)
    }
  }

  @Test("no body, however cut or twisted, does more than be refused", arguments: 0..<200 as Range<UInt64>)
  func survivesNonsense(seed: UInt64) {
    var dice = Dice(seed: seed)
    var bytes = Array(
      Self.body(
        audience: "{\"tag\":[\"a\"],\"alias\":[\"b\"]}", ios: "{\"badge\":\"+1\",\"extras\":{\"a\":[1,2,{}]}}",
        options: "{\"sendno\":1}"
      ).utf8)
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      let index = Int.random(in: 0..<bytes.count, using: &dice)
      switch Int.random(in: 0..<3, using: &dice) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
      case 1: bytes.removeSubrange(index..<min(bytes.count, index + 5))
      default: bytes.insert(contentsOf: Array("{\"[,:0".utf8), at: index)
      }
    }
    _ = try? PushReading.read(bytes)
  }
}
