// swift-tools-version: 6.2
import PackageDescription

/// What every target of ours is built with (docs/architecture.md, "The build guards the walls").
let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// A library target on a floor; it may import what it names and nothing else.
func floor(
  _ folder: String, _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", exclude: exclude,
    swiftSettings: settings)
}

func system(_ name: String, pkgConfig: String? = nil, apt: String, brew: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/0-system/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

let package = Package(
  name: "belfry",
  // of iOS only BelfryKit
  platforms: [.macOS(.v15), .iOS(.v15)],
  products: [
    .executable(name: "belfry", targets: ["belfry"]),
    // for Swift tests that hold a phone: what it shows, and which callbacks run with what
    .library(name: "BelfryTesting", targets: ["BelfryTesting", "Phone", "PushPayload", "Basics"]),
    // for apps: registration, reports and in-app messages
    .library(name: "BelfryKit", targets: ["BelfryKit"]),
    // beside it on Linux
    .library(name: "BelfryKitTransport", targets: ["BelfryKitTransport", "Transport", "Basics"]),
    // for Swift tests that push: the simulated APNs and our client, in the test's own process
    .library(
      name: "BelfryAPNS", targets: ["APNSSimulator", "APNSClient", "Delivery", "PushPayload", "Transport", "Basics"]),
  ],
  targets: [
    // 0: the C libraries we stand on
    system("CLibuv", pkgConfig: "libuv", apt: "libuv1-dev", brew: "libuv"),
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
    system("CNgHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
    system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev", brew: "libmicrohttpd"),
    system("CWslay", apt: "libwslay-dev", brew: "wslay"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev", brew: "libsodium"),
    system("CRoaring", apt: "libroaring-dev", brew: "croaring"),
    system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
    // the lock
    .target(name: "CShims", path: "Sources/0-system/CShims"),
    // the macros of OpenSSL, the variadics of libmicrohttpd, and whether a sanitizer watches
    .target(
      name: "CLibraryShims", dependencies: ["COpenSSL", "CMicroHTTPD"], path: "Sources/0-system/CLibraryShims"),
    // the variadics of libcurl
    .target(name: "CCurlShims", dependencies: ["CCurl"], path: "Sources/0-system/CCurlShims"),

    // 1: rules; pure, no I/O, no clock of their own, no Foundation
    // time, chance and locks as values that come in; bytes as text
    floor("1-rules", "Basics", ["CShims"]),
    // what a push may say: model, reader with places, writer, Apple's reasons, lint, per-device render
    floor("1-rules", "PushPayload", ["Basics"]),
    // how a push is tried: connection life, streams, retry, token renewal, outcome
    floor("1-rules", "Delivery", ["Basics", "PushPayload"]),
    // who is meant: expressions over tags and aliases, bitmaps, shards
    floor("1-rules", "Audience", ["Basics", "CRoaring"]),
    // when: due times and repeats by clocks on the wall, what was missed
    floor("1-rules", "Schedule", ["Basics"]),
    // what an iPhone does with it: life cycle, centre, badge, callbacks by generation
    floor("1-rules", "Phone", ["Basics", "PushPayload"]),
    // contract: records, transactions, what an engine owes
    floor("1-rules", "Store", ["Basics", "Audience", "Schedule"]),
    // contract: work, acks, routing; and the in-process engine
    floor("1-rules", "Bus", ["Basics"]),

    // 2: plumbing; the only floor that touches sockets and files
    // loops, TLS, HTTP/2, HTTP/1.1, WebSocket
    floor(
      "2-plumbing", "Transport",
      ["Basics", "CLibuv", "COpenSSL", "CNgHTTP2", "CMicroHTTPD", "CWslay", "CLibraryShims"]),
    // the embedded store
    floor("2-plumbing", "StoreSQLite", ["Basics", "Store", "Audience", "Schedule", "CSQLite"]),
    // calls to other servers over HTTP/1.1
    floor("2-plumbing", "HTTPClient", ["Basics", "CCurl", "CCurlShims"]),

    // 3: services
    // provider client: drives Delivery over Transport
    floor("3-services", "APNSClient", ["Basics", "Delivery", "PushPayload", "Transport"]),
    // Apple's side: validates, stores one, expires, hands to the courier
    floor("3-services", "APNSSimulator", ["Basics", "PushPayload", "Transport", "CSQLite"]),
    // use cases: register, target, push, explain, report
    floor(
      "3-services", "PushService",
      ["Basics", "PushPayload", "Delivery", "Audience", "Schedule", "Store", "Bus", "CSodium"]),
    // in-app messages: sessions, what waits, presence; rules and use cases
    floor("3-services", "Messages", ["Basics", "PushPayload", "Audience", "Store"]),
    // what an app links; knows nothing of the server
    floor(
      "3-services", "BelfryKit", [.target(name: "CSQLite", condition: .when(platforms: [.linux]))],
      exclude: ["Package.swift"]),

    // BelfryKit's way to the network on Linux
    floor("3-services", "BelfryKitTransport", ["BelfryKit", "Transport", "HTTPClient"]),

    // 4: doors
    // REST: /v1, JPush-compatible /v3, device-facing /device/v1, /metrics
    floor(
      "4-doors", "HTTPAPI",
      ["Basics", "PushPayload", "Delivery", "Audience", "Schedule", "Store", "PushService", "Transport"]),
    // WebSockets to apps; its rules are Messages'
    floor("4-doors", "Gateway", ["Basics", "Audience", "Store", "Messages", "Transport"]),
    // hosts many phones, drives them, tells what happens
    floor("4-doors", "PhoneLab", ["Basics", "PushPayload", "Phone", "APNSSimulator", "BelfryKit"]),

    // 5: the command line and the composition root: the only place that names concrete types together
    .executableTarget(
      name: "belfry",
      dependencies: [
        "Basics", "PushPayload", "Delivery", "Audience", "Schedule", "Phone", "Store", "Bus", "Transport", "HTTPClient",
        "StoreSQLite", "APNSClient", "APNSSimulator", "PushService", "Messages", "Gateway", "HTTPAPI", "PhoneLab",
        "BelfryKit", "BelfryKitTransport",
      ],
      path: "Sources/5-belfry/belfry", swiftSettings: settings),

    // what docs/benchmarks.md promises, measured beside its peers by script/bench; not shipped
    .executableTarget(
      name: "belfry-bench",
      dependencies: [
        "Basics", "PushPayload", "Phone", "Delivery", "Audience", "Store", "StoreSQLite", "CSQLite", "Transport",
        "HTTPClient", "APNSClient", "APNSSimulator", "PhoneLab",
      ],
      path: "Benchmarks", exclude: ["aioapns_sender.py"], swiftSettings: settings),

    // a phone for tests, recording sinks, conformance suites; imported by no floor
    .target(
      name: "BelfryTesting",
      dependencies: ["Basics", "PushPayload", "Delivery", "Audience", "Schedule", "Phone", "Store"],
      path: "Sources/BelfryTesting", swiftSettings: settings),

    tests("BasicsTests", ["Basics", "BelfryTesting"]),
    tests("PushPayloadTests", ["PushPayload", "Basics"]),
    tests("DeliveryTests", ["Delivery", "PushPayload", "Basics"]),
    tests("AudienceTests", ["Audience", "Basics"]),
    tests("ScheduleTests", ["Schedule", "Transport", "Basics"]),
    tests("PhoneTests", ["Phone", "PushPayload", "Basics"]),
    tests("StoreTests", ["Store", "StoreSQLite", "CSQLite", "Audience", "Basics", "BelfryTesting"]),
    tests("HTTPClientTests", ["HTTPClient", "Transport", "Basics"]),
    tests("BusTests", ["Bus", "Basics", "BelfryTesting"]),
    tests("TransportTests", ["Transport", "Basics", "BelfryTesting"]),
    tests("APNSClientTests", ["APNSClient", "Delivery", "PushPayload", "Transport", "Basics", "BelfryTesting"]),
    tests(
      "APNSSimulatorTests",
      [
        "APNSSimulator", "APNSClient", "Delivery", "HTTPClient", "PushPayload", "Transport", "Basics", "BelfryTesting",
      ]),
    tests(
      "PushServiceTests",
      [
        "PushService", "APNSClient", "StoreSQLite", "Store", "Bus", "Audience", "Schedule", "Delivery", "PushPayload",
        "Transport", "Basics", "BelfryTesting",
      ]),
    tests("BelfryKitTests", ["BelfryKit"]),
    // the smallest app; not shipped
    .executableTarget(
      name: "belfry-chat", dependencies: ["BelfryKit", "BelfryKitTransport", "Transport"], path: "Examples/chat",
      swiftSettings: settings),
    // what docs/ios-integration.md shows, as far as it needs nothing of Apple
    .target(name: "IOSExample", dependencies: ["BelfryKit"], path: "Examples/ios", swiftSettings: settings),
    tests("MessagesTests", ["Messages", "Store", "Audience", "PushPayload", "Basics", "BelfryTesting"]),
    tests(
      "GatewayTests",
      [
        "Gateway", "Messages", "StoreSQLite", "Store", "Audience", "PushPayload", "Transport", "Basics",
        "BelfryTesting",
      ]),
    tests(
      "HTTPAPITests",
      [
        "HTTPAPI", "HTTPClient", "PushService", "APNSClient", "StoreSQLite", "Store", "Bus", "Audience", "Delivery",
        "PushPayload", "Transport", "Basics", "BelfryTesting",
      ]),
    tests(
      "PhoneLabTests",
      [
        "PhoneLab", "Phone", "APNSSimulator", "APNSClient", "Delivery", "PushPayload", "Transport", "Basics",
        "BelfryTesting",
      ]),
    tests(
      "BelfryTests",
      [
        "belfry", "APNSClient", "APNSSimulator", "HTTPAPI", "PushService", "Store", "StoreSQLite", "Audience",
        "Delivery", "Phone", "PushPayload", "Transport", "Basics", "BelfryTesting",
      ]),
    // what the documentation shows to Swift teams
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "APNSSimulator", "APNSClient", "Delivery", "Phone", "PushPayload", "Transport", "Basics", "BelfryTesting",
      ],
      path: "Examples/swift", swiftSettings: settings),
    // whole processes, so `belfry` must be built; foreign SDKs
    tests(
      "EndToEndTests",
      [
        "belfry", "HTTPAPI", "HTTPClient", "PushService", "APNSClient", "Store", "StoreSQLite", "Bus", "Audience",
        "Delivery", "Basics", "PushPayload", "Transport", "BelfryKit", "BelfryKitTransport", "belfry-chat",
        "BelfryTesting",
      ]),
  ]
)
