public import Phone
public import PushPayload

/// An app as a scenario describes one, for a phone of its own.
public struct DescribedApp: Sendable {
  public var description: AppDescription
  /// What brings it from its installation to where the description has it stand; empty where that says nothing.
  public var beginning: [Phone.Event] = []

  public init(_ description: AppDescription) { self.description = description }

  /// Reads the value of a scenario's `app`; `environment` is meant where it names none.
  ///
  /// - Throws: the field, what was found, and what to write.
  public init(
    _ value: JSONValue, named name: String, environment: AppDescription.APSEnvironment, _ sources: ScenarioSources
  ) throws(ScenarioFault) {
    let reading = Reading(value, sources)
    let app = try ScenarioApp.read(reading, named: name)
    description = app.description
    if reading["environment"] == nil { description.apsEnvironment = environment }
    if reading["permission"] != nil, app.permission == .allowed || app.permission == .denied {
      var settings = Phone.UserSettings()
      settings.allowed = app.permission == .allowed
      beginning.append(.changePermission(bundleID: description.bundleID, settings))
    }
    guard reading["start"] != nil, app.start != .absent, app.start != .installed else { return }
    beginning += [.launch(bundleID: description.bundleID), .home] + app.bringing
  }
}
