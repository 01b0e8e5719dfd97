internal import Basics
internal import Phone
internal import PushPayload

/// Live Activities and in-app messages, as an app's code makes and gets them.
enum ActivityRows {
  static let support: [Row<LiveActivitySupport>] = [
    Row("attributesTypes", \.attributesTypes, "The types of attributes that its activities have."),
    Row("frequentUpdates", \.frequentUpdates, "NSSupportsLiveActivitiesFrequentUpdates."),
  ]

  private static let content: [Row<ActivityContent>] = [
    Row("state", \.state, "The content state."),
    Row("staleAfter", \.staleAfter, "Stale so long from now."),
    Row("relevance", \.relevanceScore, "The relevance score."),
  ]

  static let message: [Row<InAppMessage>] = [
    Row("sequence", .whole, "Its number among all that the app was ever sent; default the next.") {
      (message, reading) throws(ScenarioFault) in
      message.sequence = try reading.whole(1...Int64(Int32.max))
    },
    Row("title", \.title, "Its title."), Row("content", \.content, "Its text."),
    Row("contentType", \.contentType, "For the app."), Row("extras", \.extras, "For the app."),
  ]

  /// Beside those.
  static let messagePush = Shape.Field(
    name: "push", shape: .text, help: "The name of the push whose message it is (D-326).")

  private static let startOnly: [Shape.Field] = [
    .init(name: "attributesType", shape: .text, help: ""), .init(name: "attributes", shape: .object, help: ""),
    .init(
      name: "push", shape: .either([.flag, .text]),
      help: "True: updates come by a token of its own; a text: by that channel, of createChannel or by its id."),
  ]

  private static func content(_ reading: Reading, more: [String]) throws(ScenarioFault) -> ActivityContent {
    var made = ActivityContent(state: [:])
    try content.read(reading, into: &made, more: more)
    return made
  }

  static let shared = Shape.fields(
    [
      .init(name: "key", shape: .text, help: ""), .init(name: "value", shape: .any, help: "Without it: takes it away."),
    ], required: ["key"])

  static let acts: [ActRow] = [
    ActRow(
      "startActivity", .fields(startOnly + content.map(\.field), required: ["attributesType"]),
      "Activity.request, iOS 16.1 and later, only in front (D-189)."
    ) { (reading) throws(ScenarioFault) in
      guard let type = try reading["attributesType"]?.text() else {
        throw reading.fault("there is no attributesType", "Write attributesType: \"…\".")
      }
      var request = ActivityRequest(
        attributesType: type, attributes: try reading["attributes"]?.object() ?? [:],
        content: try content(reading, more: startOnly.map(\.name)))
      if let push = reading["push"] {
        if let isOn = push.value.bool {
          request.pushType = isOn ? .token : nil
        } else {
          request.pushType = .channel(try push.text())
        }
      }
      return .startActivity(request)
    },
    ActRow(
      "updateActivity", .fields([.init(name: "id", shape: .text, help: "")] + content.map(\.field), required: []),
      "Activity.update; without an id the app's newest."
    ) { (reading) throws(ScenarioFault) in
      .updateActivity(id: try reading["id"]?.text(), try content(reading, more: ["id"]))
    },
    ActRow(
      "endActivity",
      .either([
        .yes,
        .fields(
          [
            .init(name: "id", shape: .text, help: ""), .init(name: "state", shape: .object, help: ""),
            .init(name: "dismissAt", shape: .time, help: ""),
          ], required: []),
      ]), "Activity.end; without an id the app's newest."
    ) { (reading) throws(ScenarioFault) in
      if reading.value.bool == true { return .endActivity(id: nil, contentState: nil, .standard) }
      _ = try reading.members(known: ["id", "state", "dismissAt"])
      let at = try reading["dismissAt"]?.time()
      return .endActivity(
        id: try reading["id"]?.text(), contentState: try reading["state"]?.object(), at.map { .at($0) } ?? .standard)
    },
    ActRow(
      .handActivityTokensToService, "handActivityTokensToService", "Gives the push service every ActivityKit token."),
    ActRow(.fetchMessageHistory, "fetchMessageHistory", "Asks for all messages that there ever were (D-302)."),
    ActRow("share", shared, "Writes a value into the defaults of its app group (D-250).") {
      (reading) throws(ScenarioFault) in
      .share(key: try reading.sharedKey(), reading["value"]?.value)
    },
    ActRow("readShared", .text, "Reads one there.") { (reading) throws(ScenarioFault) in
      .readShared(try reading.text())
    },
    ActRow("setPreference", .word(["everything", "onlyScheduled"]), "The app's own switch (D-331, D-332).") {
      (reading) throws(ScenarioFault) in
      .setPreference(onlyScheduled: try reading.word(of: ["everything", "onlyScheduled"]) == "onlyScheduled")
    },
  ]
}

extension Reading {
  /// Of `{key, value}`.
  func sharedKey() throws(ScenarioFault) -> String {
    _ = try members(known: ["key", "value"])
    guard let key = self["key"] else { throw fault("there is no key", "Write key: \"…\".") }
    return try key.text()
  }
}
