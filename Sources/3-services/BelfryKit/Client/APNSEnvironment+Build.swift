internal import Foundation

extension APNSEnvironment {
  /// Of the running app, by what it was signed with. Builds for development and ad hoc carry their provisioning profile; those
  /// of the App Store and TestFlight carry none, and use production.
  public static var ofThisBuild: APNSEnvironment {
    #if targetEnvironment(simulator)
      return .sandbox
    #else
      let places = ["embedded.mobileprovision", "../embedded.provisionprofile"]
      for place in places {
        let file = Bundle.main.bundleURL.appendingPathComponent(place)
        if let profile = try? Data(contentsOf: file) { return APNSEnvironment(profile: profile) }
      }
      return .production
    #endif
  }

  /// By a provisioning profile: a property list within a signature.
  init(profile: Data) {
    let text = String(decoding: profile, as: UTF8.self)
    guard let key = text.range(of: "aps-environment</key>"),
      let value = text[key.upperBound...].range(of: "<string>"),
      let end = text[value.upperBound...].range(of: "</string>")
    else {
      self = .production
      return
    }
    self = text[value.upperBound..<end.lowerBound] == "development" ? .sandbox : .production
  }
}
