/// The buttons of a notification, and what the user does with it beside using it.
extension Phone {
  mutating func setCategories(_ categories: [NotificationCategory], of app: Int) {
    record(.notModelled("categories"), app, "D-242")
    apps[app].categories = categories
  }

  mutating func pressButton(_ action: String, of id: String?, text: String?, _ app: Int) {
    record(.notModelled("the button \(action)"), app, "D-141")
  }

  mutating func dismiss(_ app: Int, id: String?) { record(.notModelled("dismissing a notification"), app, "D-145") }

  mutating func flickAway(_ app: Int) { record(.notModelled("flicking a banner away"), app, "D-146") }

  mutating func openSettings(of app: Int, for id: String?) {
    record(.notModelled("the in-app settings button"), app, "D-031")
  }

  mutating func keepProvisional(_ app: Int, id: String?, inSummary: Bool) {
    record(.notModelled("Keep"), app, "D-025")
  }

  mutating func turnOff(_ app: Int, id: String?) { record(.notModelled("Turn Off"), app, "D-025") }
}
