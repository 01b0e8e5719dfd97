/// Which of Apple's two push services gave a device its token. A push goes to the devices of exactly one.
public enum APNSEnvironment: UInt8, CaseIterable, Sendable {
  /// Apps built and installed by Xcode.
  case sandbox = 0
  /// TestFlight and App Store.
  case production = 1
}
