internal import Basics
internal import Phone
internal import PushPayload

/// What an app brings beside its code: extensions, attachments, sounds, texts.
enum ExtensionRows {
  static let service: [Row<ServiceExtension>] = [
    Row("edits", .list(.named("edit")), "What didReceive changes (D-251).") {
      (service, reading) throws(ScenarioFault) in
      service.edits = try edits(reading)
    },
    Row("answer", .named("answer"), "When it calls the content handler (D-252).") {
      (service, reading) throws(ScenarioFault) in service.answer = try reading.answer()
    },
    Row(
      "expiryEdits", .list(.named("edit")), "What serviceExtensionTimeWillExpire changes; without it does not answer."
    ) {
      (service, reading) throws(ScenarioFault) in service.expiryEdits = try edits(reading)
    },
    Row("crashes", \.crashes, "It crashes when it would have answered (D-255)."),
    Row("memoryMegabytes", \.memoryMegabytes, "The most memory that it takes (D-255)."),
  ]

  static let content: [Row<ContentExtension>] = [
    Row("categories", \.categories, "The categories that it is for (D-258)."),
    Row("response", \.response, "What it answers to an action (D-149); without it the app gets the action at once."),
    Row("hidesDefaultContent", \.hidesDefaultContent, "It hides the default text."),
    Row("title", \.title, "It overrides the title."),
    Row("isInteractive", \.isInteractive, "Its controls work (iOS 12)."),
  ]

  static let attachment: [Row<NotificationAttachment>] = [
    Row("id", \.id, "Its identifier."), Row("file", \.file, "Its name, by which it is typed (D-256)."),
    Row("bytes", \.bytes, "Its size."), Row("typeHint", \.typeHint, "Its type, in place of the name's."),
    Row("isReadable", \.isReadable, "The file can be read."),
    Row("hidesThumbnail", \.hidesThumbnail, "No thumbnail in the entry."),
  ]

  static let sound: [Row<SoundFile>] = [
    Row("name", \.name, "With its extension, as a push names it."),
    Row("place", .word(places.map(\.name)), "Where it lies (D-221).") { (sound, reading) throws(ScenarioFault) in
      let name = try reading.word(of: places.map(\.name))
      for row in places where row.name == name { sound.place = row.place }
    },
    Row("encoding", \.encoding, "Its encoding (D-222)."), Row("seconds", \.seconds, "Its length (D-222)."),
  ]

  private static let places: [(name: String, place: SoundFile.Place)] = [
    ("container", .container), ("group", .group), ("bundle", .bundle),
  ]

  /// The changes of a service extension, by the names in `ContentEdit`; null takes away what can be taken away.
  static let edits: [(name: String, shape: Shape, read: @Sendable (Reading) throws(ScenarioFault) -> ContentEdit)] = [
    ("title", text, { (reading) throws(ScenarioFault) in .title(try reading.editedText()) }),
    ("subtitle", text, { (reading) throws(ScenarioFault) in .subtitle(try reading.editedText()) }),
    ("body", text, { (reading) throws(ScenarioFault) in .body(try reading.editedText()) }),
    ("badge", .any, { (reading) throws(ScenarioFault) in .badge(reading.isNull ? nil : try reading.whole()) }),
    ("sound", .any, { (reading) throws(ScenarioFault) in .sound(try reading.sound()) }),
    ("category", .any, { (reading) throws(ScenarioFault) in .category(reading.isNull ? nil : try reading.text()) }),
    ("thread", .any, { (reading) throws(ScenarioFault) in .thread(reading.isNull ? nil : try reading.text()) }),
    ("level", .word(levels), { (reading) throws(ScenarioFault) in .level(try reading.word()) }),
    ("relevance", .any, { (reading) throws(ScenarioFault) in .relevance(reading.isNull ? nil : try reading.number()) }),
    (
      "targetContent", .any,
      { (reading) throws(ScenarioFault) in .targetContent(reading.isNull ? nil : try reading.text()) }
    ),
    (
      "filterCriteria", .any,
      { (reading) throws(ScenarioFault) in .filterCriteria(reading.isNull ? nil : try reading.text()) }
    ),
    (
      "attach", .either([.text, attachment.shape(required: ["file"])]),
      { (reading) throws(ScenarioFault) in .attach(try reading.attachment()) }
    ),
    (
      "userInfo", ActivityRows.shared,
      { (reading) throws(ScenarioFault) in .userInfo(key: try reading.sharedKey(), reading["value"]?.value) }
    ),
    (
      "share", ActivityRows.shared,
      { (reading) throws(ScenarioFault) in .share(key: try reading.sharedKey(), reading["value"]?.value) }
    ),
    ("countBadge", .text, { (reading) throws(ScenarioFault) in .countBadge(key: try reading.text()) }),
    (
      "empty", .yes,
      { (reading) throws(ScenarioFault) in
        try reading.yes()
        return .empty
      }
    ),
  ]

  private static let text = Shape.either([
    .text,
    .fields([.init(name: "custom", shape: .text, help: "The text under this key beside aps.")], required: ["custom"]),
  ])
  private static let levels = Payload.InterruptionLevel.allCases.map(\.rawValue)

  static func edits(_ reading: Reading) throws(ScenarioFault) -> [ContentEdit] {
    var list: [ContentEdit] = []
    for element in reading.oneOrMore {
      if element.value.string == "empty" {
        list.append(.empty)
        continue
      }
      for (name, member) in try element.members(known: edits.map(\.name)) {
        guard let row = edits.first(where: { $0.name == name }) else { continue }
        list.append(try row.read(member))
      }
    }
    return list
  }

  static func contents(_ reading: Reading) throws(ScenarioFault) -> [ContentExtension] {
    var list: [ContentExtension] = []
    for element in try reading.list() {
      var one = ContentExtension(categories: [])
      try content.read(element, into: &one)
      list.append(one)
    }
    return list
  }

  static func sounds(_ reading: Reading) throws(ScenarioFault) -> [SoundFile] {
    var list: [SoundFile] = []
    for element in try reading.list() {
      if let name = element.value.string {
        list.append(SoundFile(name))
        continue
      }
      var one = SoundFile("")
      try sound.read(element, into: &one)
      list.append(one)
    }
    return list
  }

  /// By language, then by key.
  static func strings(_ reading: Reading) throws(ScenarioFault) -> [String: [String: String]] {
    var strings: [String: [String: String]] = [:]
    for language in try reading.object().members {
      let table = reading.member(language.key, language.value)
      for member in try table.object().members {
        strings[language.key, default: [:]][member.key] = try table.member(member.key, member.value).text()
      }
    }
    return strings
  }
}

extension Reading {
  var isNull: Bool { value == .null }

  func editedText() throws(ScenarioFault) -> EditedText {
    guard let custom = self["custom"] else { return .text(try text(like: "a text, or {custom: \"key\"}")) }
    return .custom(key: try custom.text())
  }

  func attachment() throws(ScenarioFault) -> NotificationAttachment {
    if let file = value.string { return NotificationAttachment(file: file) }
    guard let file = self["file"] else { throw wrong("Write the name of a file, or {file: \"…\", bytes: …}.") }
    var attachment = NotificationAttachment(file: try file.text())
    try ExtensionRows.attachment.read(self, into: &attachment)
    return attachment
  }

  /// As a payload has it: a name, or `{critical, name, volume}`.
  func sound() throws(ScenarioFault) -> Payload.Sound? {
    guard !isNull else { return nil }
    guard let sound = Payload(["aps": ["sound": value]]).sound else {
      throw wrong("Write a name such as \"default\", an object as in a payload, or null.")
    }
    return sound
  }
}
