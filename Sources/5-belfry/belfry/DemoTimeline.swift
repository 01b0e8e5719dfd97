import Phone
import PushPayload

/// What one phone did in the demo, a line a push: what came, where the app was, what the user got, what the app's code
/// got, and what came of the user's act.
struct DemoTimeline {
  var phone: Demo.Resident
  var rows: [DemoResult]

  var text: String {
    let title = "\n\(phone.name), iOS \(phone.version) (\(phone.version.generation.rawValue))"
    let header = line("PUSH", "APP IS", "USER GETS", "CODE GETS", "THEN")
    let lines = rows.map { row in
      line(
        row.step.push.name, row.step.place.rawValue, row.shown.isEmpty ? "–" : row.shown.description,
        row.words(row.atArrival), row.step.act == .nothing ? "" : "\(row.step.act.rawValue): \(row.words(row.atAct))")
    }
    return ([title, header] + lines).joined(separator: "\n")
  }

  private func line(_ push: String, _ place: String, _ shown: String, _ code: String, _ then: String) -> String {
    let cells = [padded(push, 16), padded(place, 24), padded(shown, 34), padded(code, 38), then]
    return String(("  " + cells.joined(separator: "  ")).reversed().drop { $0 == " " }.reversed())
  }
}

extension DemoResult {
  /// The calls that carried the payload, with the custom keys as the code got them.
  func words(_ entries: [TimelineEntry]) -> String {
    let calls = callbacks(entries).map { call in
      let extras = (call.arguments.userInfo ?? [:]).members.filter { $0.key != "aps" && !$0.key.hasPrefix("_j_") }
      let keys = extras.map { " \($0.key)=\(short($0.value))" }.joined()
      return "\(call.method.short)\(keys)"
    }
    return calls.isEmpty ? "–" : calls.joined(separator: ", ")
  }

  private func short(_ value: JSONValue) -> String {
    value.string ?? value.text
  }

  var json: JSONValue {
    func calls(_ entries: [TimelineEntry]) -> JSONValue {
      .array(
        callbacks(entries).map { call in
          ["call": .string(call.method.selector), "userInfo": .object(call.arguments.userInfo ?? [:])]
        })
    }
    return [
      "ios": .string("\(version)"), "push": .string(step.push.name), "app": .string(step.place.rawValue),
      "shown": .string(shown.letters), "atArrival": calls(atArrival), "act": .string(step.act.rawValue),
      "atAct": calls(atAct), "faults": .array(faults().faults.map { .string($0) }),
    ]
  }
}
