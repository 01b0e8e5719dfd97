internal import Phone
internal import PushPayload

/// Categories and actions of notifications, by the names of Apple's classes.
enum CategoryRows {
  static let category: [Row<NotificationCategory>] = [
    Row("id", \.id, "What aps.category names."),
    Row("actions", .list(action.shape(required: ["id"])), "Its buttons.") { (category, reading) throws(ScenarioFault) in
      category.actions = []
      for element in try reading.list() {
        var one = NotificationAction(id: try element.id())
        try action.read(element, into: &one)
        category.actions.append(one)
      }
    },
    Row(
      "options", .list(.word(NotificationCategory.Options.table.map(\.name))), "UNNotificationCategoryOptions (D-244)."
    ) {
      (category, reading) throws(ScenarioFault) in
      category.options.formUnion(try reading.oneOrMore.named(in: NotificationCategory.Options.table))
    },
    Row(
      "hiddenPreviewsBodyPlaceholder", \.hiddenPreviewsBodyPlaceholder, "The body while previews are hidden (D-126)."),
    Row("summaryFormat", \.summaryFormat, "Text under a group (D-241)."),
    Row("minimalActions", \.minimalActions, "iOS 8 and 9: the buttons where there is little room (D-243)."),
  ]

  static let action: [Row<NotificationAction>] = [
    Row("id", \.id, "What the app's code gets."),
    Row("title", \.title, "On the button; default the id."),
    Row("options", .list(.word(NotificationAction.Options.table.map(\.name))), "UNNotificationActionOptions (D-244).") {
      (action, reading) throws(ScenarioFault) in
      action.options.formUnion(try reading.oneOrMore.named(in: NotificationAction.Options.table))
    },
    Row(
      "textInput", .either([.flag, input.shape()]),
      "The user types a text: true, or its button and placeholder (D-144)."
    ) {
      (action, reading) throws(ScenarioFault) in
      if let flag = reading.value.bool {
        action.textInput = flag ? .init() : nil
      } else {
        var made = NotificationAction.TextInput()
        try input.read(reading, into: &made)
        action.textInput = made
      }
    },
  ]

  private static let input: [Row<NotificationAction.TextInput>] = [
    Row("button", \.button, "On the button that sends."), Row("placeholder", \.placeholder, "In the empty field."),
  ]

  static func list(_ reading: Reading) throws(ScenarioFault) -> [NotificationCategory] {
    var list: [NotificationCategory] = []
    for element in try reading.list() {
      var one = NotificationCategory(id: try element.id())
      try category.read(element, into: &one)
      list.append(one)
    }
    return list
  }
}

extension Reading {
  /// What a thing cannot do without.
  func id() throws(ScenarioFault) -> String {
    guard let id = self["id"] else { throw fault("there is no id", "Write id: \"…\".") }
    return try id.text()
  }
}
