import Basics
import PushPayload
import Testing

@testable import APNSSimulator

@Suite("Fault rules as they are written")
struct FaultReadingTests {
  static func read(_ text: String) throws -> [FaultRule] {
    try FaultRule.read(JSONReader.read(Array(text.utf8)).value)
  }

  @Test(
    "each field is read, and written the same way again",
    arguments: [
      #"{"id":"a","when":{"token":["ab01"],"device":["phone"],"topic":["com.example.app"],"channel":["dGVzdA=="],"environment":["sandbox"],"port":["manage","push"],"pushType":["alert","voip"],"per":"connection","after":5,"first":7,"every":2,"rate":0.25,"from":"2026-11-30T10:00:00.250Z","until":"10m","repeat":{"every":"1m","for":"5s"}},"limit":3,"action":{"refuse":"BadDeviceToken"}}"#,
      #"{"id":"a","action":{"refuse":"Unregistered","timestamp":1796000000000}}"#,
      #"{"id":"a","action":{"refuse":"ExpiredToken","timestamp":false}}"#,
      #"{"id":"a","action":{"refuse":"BrandNewReason","status":418,"delay":"250ms","jitter":"2s","deliver":true,"split":true,"retryAfter":"30"}}"#,
      #"{"id":"a","action":{"answer":{"status":502,"body":"<html>","contentType":"text/html"}}}"#,
      #"{"id":"a","action":{"noAnswer":true,"deliver":true}}"#,
      #"{"id":"a","action":{"resetStream":"REFUSED_STREAM"}}"#, #"{"id":"a","action":{"resetStream":99}}"#,
      #"{"id":"a","action":{"delay":"2s"}}"#, #"{"id":"a","action":{"deliver":false}}"#,
      #"{"id":"a","action":{"goAway":{"lastStream":"newest","code":"NO_ERROR","reason":"Shutdown","then":"stay"}}}"#,
      #"{"id":"a","action":{"goAway":{"below":2,"code":"REFUSED_STREAM","text":"too many","then":"close"}}}"#,
      #"{"id":"a","action":{"goAway":{"lastStream":"notice","code":"NO_ERROR","text":"","then":"drain"}}}"#,
      #"{"id":"a","action":{"halfOpen":true}}"#, #"{"id":"a","action":{"halfOpen":{"pings":true}}}"#,
      #"{"id":"a","action":{"resetConnection":true}}"#, #"{"id":"a","action":{"tls":"never"}}"#,
      #"{"id":"a","action":{"tls":"reset"}}"#, #"{"id":"a","action":{"bandwidth":2000,"for":"10s"}}"#,
      #"{"id":"a","action":{"streams":0}}"#,
    ])
  func roundTrip(text: String) throws {
    let rules = try Self.read(text)
    #expect(rules.map { JSONValue.object(FaultJSON.object(of: $0)).text } == [text])
    #expect(try Self.read("{\"faults\":[\(text)]}") == rules && Self.read("[\(text)]") == rules)
  }

  @Test("a reason brings its status; names without id are given")
  func statuses() throws {
    for reason in RefusalReason.allCases {
      let rules = try Self.read(#"{"action":{"refuse":"\#(reason.rawValue)"}}"#)
      #expect(rules == [FaultRule("fault-1", .answer(.init(.refuse(.init(reason)))))])
    }
    let three = #"[{"action":{"delay":"1s"}},{"id":"b","action":{"delay":"1s"}},{"action":{"delay":"1s"}}]"#
    #expect(try Self.read(three).map(\.id) == ["fault-1", "b", "fault-2"])
  }

  @Test(
    "what is wrong is told with its place, what was found, and what to write",
    arguments: [
      ("7", "$", "found 7, not an object", ""), ("{}", "action", "it is missing", "refuse"),
      (#"{"faults":7}"#, "faults", "found 7", "list"),
      (#"{"fault":[]}"#, "fault", "no such field", "Known are id, when, limit, action"),
      (
        #"[{"action":{"delay":"1s"}},{"action":{"dealy":"1s"}}]"#, "[1].action.dealy", "no such field",
        "Did you mean 'delay'?"
      ),
      (
        #"{"faults":[{"action":{"delay":"1s"}},{"action":{"delay":2}}]}"#, "faults[1].action.delay", "found 2",
        "\"250ms\""
      ),
      (#"{"action":{"delay":"2 s"}}"#, "action.delay", #"found "2 s""#, "ms, s, m, h, d"),
      (#"{"action":{"refuse":"BadDeviceTokn"}}"#, "action.refuse", "BadDeviceTokn", "Did you mean \"BadDeviceToken\"?"),
      (#"{"action":{"refuse":"Novel"}}"#, "action.refuse", "Novel", "'status'"),
      (#"{"action":{"refuse":"Shutdown","noAnswer":true}}"#, "action.noAnswer", "beside 'refuse'", "two rules"),
      (#"{"action":{"resetStream":"REFUSED"}}"#, "action.resetStream", "REFUSED", "\"REFUSED_STREAM\""),
      (#"{"action":{"goAway":{"lastStream":"newst"}}}"#, "action.goAway.lastStream", "newst", "\"newest\""),
      (#"{"action":{"goAway":{"then":"shut"}}}"#, "action.goAway.then", "shut", "\"drain\""),
      (#"{"action":{"streams":1,"delay":"1s"}}"#, "action.delay", "no meaning beside 'streams'", "Leave it out"),
      (#"{"action":{"delay":"1s","status":500}}"#, "action.status", "no meaning", "Leave it out"),
      (#"{"action":{}}"#, "action", "it says nothing", "refuse"),
      (#"{"action":{"bandwidth":0}}"#, "action.bandwidth", "found 0", "1"),
      (#"{"action":{"delay":"1s"},"when":{"rate":2}}"#, "when.rate", "found 2", "from 0 to 1"),
      (
        #"{"action":{"delay":"1s"},"when":{"enviroment":"sandbox"}}"#, "when.enviroment", "no such field", "environment"
      ),
      (#"{"action":{"delay":"1s"},"when":{"environment":"sandbx"}}"#, "when.environment", "sandbx", "\"sandbox\""),
      (#"{"action":{"delay":"1s"},"when":{"pushType":["alert","viop"]}}"#, "when.pushType[1]", "viop", "\"voip\""),
      (#"{"action":{"delay":"1s"},"when":{"port":"mange"}}"#, "when.port", "mange", "\"manage\""),
      (#"{"action":{"delay":"1s"},"when":{"channel":""}}"#, "when.channel", "found", "apns-channel-id"),
      (#"{"action":{"tls":"never"},"when":{"channel":"x"}}"#, "when", "knows no request", "port"),
      (#"{"action":{"delay":"1s"},"when":{"token":"xyz"}}"#, "when.token", "xyz", "hex"),
      (#"{"action":{"delay":"1s"},"when":{"from":"yesterday"}}"#, "when.from", "yesterday", "2026-11-30T10:00:00Z"),
      (#"{"action":{"delay":"1s"},"when":{"from":"2026-02-31T10:00:00Z"}}"#, "when.from", "02-31", "10s"),
      (#"{"action":{"delay":"1s"},"when":{"repeat":{"every":"5s","for":"5s"}}}"#, "when.repeat.for", "5s", "shorter"),
      (#"{"action":{"delay":"1s"},"when":{"every":0}}"#, "when.every", "found 0", "from 1"),
      (#"{"action":{"tls":"never"},"when":{"topic":"x"}}"#, "when", "knows no request", "Keep"),
      (#"[{"id":"a","action":{"delay":"1s"}},{"id":"a","action":{"delay":"1s"}}]"#, "[1].id", "twice", "own"),
      (#"{"id":"a b","action":{"delay":"1s"}}"#, "id", "a b", "without spaces"),
      (#"{"limit":0,"action":{"delay":"1s"}}"#, "limit", "found 0", "from 1"),
      (#"{"action":{"delay":"1s","delay":"2s"}}"#, "action.delay", "twice", "Keep one"),
    ])
  func faults(text: String, path: String, found: String, remedy: String) throws {
    do {
      _ = try Self.read(text)
      Issue.record("it was taken")
    } catch let fault as FaultReadingFault {
      #expect(fault.path.description == path)
      #expect(fault.found.contains(found), "\(fault)")
      #expect(fault.remedy.contains(remedy), "\(fault)")
    }
  }

  @Test("1,000 rules are taken, with those in force; more are told, and soon")
  func many() throws {
    func rules(_ count: Int) throws -> JSONValue {
      let one = try JSONReader.read(Array(#"{"action":{"delay":"1s"}}"#.utf8)).value
      return .array(Array(repeating: one, count: count))
    }
    #expect(try FaultRule.read(rules(1_000)).last?.id == "fault-1000")
    #expect(throws: FaultReadingFault.self) { try FaultRule.read(rules(1_001)) }
    #expect(throws: FaultReadingFault.self) { try FaultRule.read(rules(1_000), besides: ["mine"]) }
  }
}
