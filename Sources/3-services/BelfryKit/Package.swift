// swift-tools-version: 6.2
import PackageDescription

// BelfryKit alone, as a local package for Mac apps of macOS 12 and later: the repository's own package needs macOS 15 for its
// other products (docs/ios-integration.md). Apple platforms only; on Linux the library is built by the repository's package.
let package = Package(
  name: "BelfryKit",
  platforms: [.macOS(.v12), .iOS(.v15)],
  products: [.library(name: "BelfryKit", targets: ["BelfryKit"])],
  targets: [
    .target(
      name: "BelfryKit", path: ".", exclude: ["Package.swift"],
      swiftSettings: [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
