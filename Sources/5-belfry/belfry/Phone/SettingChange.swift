import Basics
import Phone
import Transport

/// One switch of the phone set to a value, both as they are typed.
struct SettingChange: Equatable, Sendable {
  var name: String
  var value: String

  /// Checked when it is made; `apply` cannot fail.
  init(_ name: String, _ value: String) throws(UsageFault) {
    guard let setting = Self.table.first(where: { $0.name.lowercased() == name.lowercased() }) else {
      let near = Self.table.map(\.name).min {
        editDistance($0.lowercased(), name) < editDistance($1.lowercased(), name)
      }
      throw UsageFault("there is no setting '\(name)'; did you mean '\(near ?? "")'? 'settings' lists all")
    }
    var probe = PhoneSettings()
    guard setting.set(&probe, value) else {
      throw UsageFault("\(setting.name) takes \(setting.takes), not '\(value)'")
    }
    self.name = setting.name
    self.value = value
  }

  func apply(to settings: inout PhoneSettings) {
    _ = Self.table.first { $0.name == name }?.set(&settings, value)
  }

  struct Setting: Sendable {
    var name: String
    var takes: String
    var set: @Sendable (inout PhoneSettings, String) -> Bool
    var get: @Sendable (PhoneSettings) -> String
  }

  static let table: [Setting] = [
    choice("appearanceOfAlert", \.appearanceOfAlert), choice("previews", \.previews),
    flag("mute", \.mute), flag("lowPower", \.lowPower), flag("backgroundRefresh", \.backgroundRefresh),
    focus, zone, text("language", \.language), flag("listedForDevelopment", \.listedForDevelopment),
    flag("strictSeed", \.strictSeed), number("silentBudgetPerHour", \.silentBudgetPerHour),
    flag("developerAttached", \.developerAttached), number("backgroundSeconds", \.backgroundSeconds),
    number("leaveSeconds", \.leaveSeconds),
    number("presentSeconds", \.presentSeconds), number("extensionSeconds", \.extensionSeconds),
    choice("foregroundPairOrder", \.foregroundPairOrder), flag("noDelegateShows", \.noDelegateShows),
    flag("debOnResume", \.debOnResume), flag("zeroClears", \.zeroClears),
    flag("pushedMinusOneClears", \.pushedMinusOneClears), flag("voipAfterForceQuit", \.voipAfterForceQuit),
    flag("offlineRegistrationFails", \.offlineRegistrationFails),
    flag("deniedDropsAlertAtAPNs", \.deniedDropsAlertAtAPNs),
  ]

  typealias Path<Value> = WritableKeyPath<PhoneSettings, Value> & Sendable

  private static func flag(_ name: String, _ path: any Path<Bool>) -> Setting {
    Setting(
      name: name, takes: "on or off",
      set: { settings, word in
        guard let value = ["on": true, "true": true, "off": false, "false": false][word] else { return false }
        settings[keyPath: path] = value
        return true
      }, get: { $0[keyPath: path] ? "on" : "off" })
  }

  private static func number<Number: FixedWidthInteger & SendableMetatype>(_ name: String, _ path: any Path<Number>)
    -> Setting
  {
    Setting(
      name: name, takes: "a whole number from 0 up",
      set: { settings, word in
        guard let value = Number(word), value >= 0 else { return false }
        settings[keyPath: path] = value
        return true
      }, get: { "\($0[keyPath: path])" })
  }

  private static let focus = Setting(
    name: "focus", takes: "the name of a Focus, or off",
    set: { settings, word in
      guard !word.isEmpty else { return false }
      settings.focus = word == "off" ? nil : Focus(word)
      return true
    }, get: { $0.focus?.name ?? "off" })

  private static let zone = Setting(
    name: "zone", takes: "a time zone such as Europe/Berlin",
    set: { settings, word in
      guard let zone = try? ZoneDatabase.usual.zone(named: word) else { return false }
      settings.zone = zone
      return true
    }, get: { $0.zone.name })

  private static func text(_ name: String, _ path: any Path<String>) -> Setting {
    Setting(
      name: name, takes: "a word",
      set: { settings, word in
        guard !word.isEmpty else { return false }
        settings[keyPath: path] = word
        return true
      }, get: { $0[keyPath: path] })
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable & SendableMetatype>(
    _ name: String, _ path: any Path<Choice>
  ) -> Setting {
    Setting(
      name: name, takes: Choice.allCases.map(\.rawValue).joined(separator: ", "),
      set: { settings, word in
        guard let value = Choice(rawValue: word) else { return false }
        settings[keyPath: path] = value
        return true
      }, get: { $0[keyPath: path].rawValue })
  }
}
