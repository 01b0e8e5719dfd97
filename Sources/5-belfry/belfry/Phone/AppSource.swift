import Phone
import PhoneLab

/// An app to install: by its bundle id alone, or as a file describes it.
enum AppSource: Equatable, Sendable {
  /// Of an app that has what most have (`UsualApp`).
  case bundleID(String)
  /// JSON5 with what a scenario says of an app (docs/scenarios.md).
  case file(String)

  init(_ word: String) throws(UsageFault) {
    if word.contains("/") || word.hasSuffix(".json5") || word.hasSuffix(".json") {
      self = .file(word)
    } else if UsualApp.isBundleID(word) {
      self = .bundleID(word)
    } else {
      throw UsageFault(
        "an app is a bundle id such as com.example.app, or a .json5 file that describes one, not '\(word)'")
    }
  }

  /// From the folder of whoever was called.
  var absolute: AppSource {
    switch self {
    case .bundleID: self
    case .file(let path): .file(Files.absolute(path))
    }
  }

  /// As it is typed.
  var word: String {
    switch self {
    case .bundleID(let word), .file(let word): word
    }
  }

  /// Faults of a file name it, the place in it, what was found, and what to write.
  func read(
    _ environment: AppDescription.APSEnvironment, _ ios: IOSVersion
  ) throws(CommandFault) -> DescribedApp {
    switch self {
    case .bundleID(let bundleID):
      return DescribedApp(UsualApp.description(bundleID, environment: environment, ios: ios))
    case .file(let path):
      let value = try JSON5File.read(path, kind: "an app's description? One has some hundred bytes")
      let file = Files.name(of: path)
      let name = file.split(separator: ".").first.map(String.init) ?? file
      let app: DescribedApp
      do throws(ScenarioFault) {
        app = try DescribedApp(value, named: name, environment: environment, .usual)
      } catch {
        throw CommandFault("\(path): \(error)")
      }
      guard UsualApp.isBundleID(app.description.bundleID) else {
        throw CommandFault("\(path): bundle: found \"\(app.description.bundleID)\". Write one such as com.example.app.")
      }
      return app
    }
  }
}
