import APNSSimulator
import Basics

/// The options of `belfry apns` for what connections may do; the defaults are told in docs/apns-simulator.md.
enum APNSLimits {
  static let options: [Command.Option] = [
    .init(name: "streams", value: "N", help: "Streams of a connection that has proved who it is; default 1000"),
    .flag("ungated", "All streams at once, not one until the first valid token"),
    .flag("steady", "Refused pushes leave the stream limit as it is"),
    .init(
      name: "overrun", value: "queue|refuse", help: "Streams above the limit wait (default) or are reset",
      completion: .words(APNSSimulator.Overrun.allCases.map(\.rawValue))),
    .init(
      name: "error-budget", value: "N|none",
      help: "Errors that close a connection, BadDeviceToken counting 5; default 500"),
    .init(name: "idle-timeout", value: "SECONDS|none", help: "IdleTimeout after so long; default 3600"),
    .init(name: "requests-per-token", value: "N|none", help: "TooManyRequests after N a minute; default 1000"),
    .init(name: "requests-per-second", value: "N|none", help: "ServiceUnavailable above N of all; default none"),
    .flag("wedge-expired", "After ExpiredProviderToken a connection takes no token any more"),
  ]

  static func apply(_ parsed: ParsedCommand, to configuration: inout APNSSimulator.Configuration) throws {
    var limits = configuration.limits
    if let number = try number(parsed, "streams", or: limits.streams) { limits.streams = number }
    limits.isFirstStreamGated = !parsed.flag("ungated")
    limits.narrowsAfterRefusal = !parsed.flag("steady")
    if let word = parsed.value("overrun") {
      guard let overrun = APNSSimulator.Overrun(rawValue: word) else {
        throw UsageFault("--overrun takes queue or refuse, not '\(word)'")
      }
      limits.overrun = overrun
    }
    limits.errorBudget = try number(parsed, "error-budget", or: limits.errorBudget)
    limits.idleTimeout = try number(parsed, "idle-timeout", or: limits.idleTimeout.map { $0.milliseconds / 1000 })
      .map { .seconds($0) }
    limits.requestsPerToken = try number(parsed, "requests-per-token", or: limits.requestsPerToken)
    limits.requestsPerSecond = try number(parsed, "requests-per-second", or: limits.requestsPerSecond)
    configuration.limits = limits
    configuration.isWedgedByExpiredToken = parsed.flag("wedge-expired")
  }

  /// nil for `none`.
  private static func number<Number: FixedWidthInteger>(
    _ parsed: ParsedCommand, _ name: String, or usual: Number?
  ) throws -> Number? {
    guard let text = parsed.value(name) else { return usual }
    if text == "none", name != "streams" { return nil }
    guard let number = Number(text), number > 0 else {
      throw UsageFault("--\(name) takes a number above 0\(name == "streams" ? "" : " or none"), not '\(text)'")
    }
    return number
  }
}
