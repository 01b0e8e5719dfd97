#if canImport(Darwin)
  import BelfryKit
  import Foundation

  /// The app's one Belfry. The addresses are your service's; the key is what `belfry app create` printed.
  enum Push {
    static let configuration = Belfry.Configuration(
      appKey: "1f0a3c5e7b9d2468ace01357",
      service: URL(string: "https://push.example.com")!,
      gateway: URL(string: "wss://push.example.com:8081")!,
      folder: FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app"))

    static let belfry: Belfry = {
      do { return try Belfry(configuration, transport: URLSessionTransport()) } catch { fatalError("\(error)") }
    }()
  }
#endif
