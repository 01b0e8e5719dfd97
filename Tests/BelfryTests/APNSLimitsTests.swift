import APNSSimulator
import Basics
import Testing

@testable import belfry

@Suite("belfry apns: what connections may do")
struct APNSLimitsTests {
  private func configuration(
    _ values: [String: String] = [:], flags: Set<String> = []
  ) throws -> APNSSimulator.Configuration {
    var configuration = APNSSimulator.Configuration()
    try APNSLimits.apply(
      ParsedCommand(values: values.mapValues { [$0] }, flags: flags), to: &configuration)
    return configuration
  }

  @Test("without options it is as Apple does")
  func usual() throws {
    let limits = try configuration().limits
    #expect(limits.streams == 1000 && limits.isFirstStreamGated && limits.narrowsAfterRefusal)
    #expect(limits.errorBudget == 500 && limits.overrun == .queue && limits.idleTimeout == .hours(1))
    #expect(limits.requestsPerToken == 1000 && limits.requestsPerSecond == nil)
    #expect(try !configuration().isWedgedByExpiredToken)
  }

  @Test("each part can be set")
  func set() throws {
    let configuration = try configuration(
      [
        "streams": "7", "overrun": "refuse", "error-budget": "9", "idle-timeout": "30", "requests-per-token": "5",
        "requests-per-second": "100",
      ], flags: ["ungated", "steady", "wedge-expired"])
    let limits = configuration.limits
    #expect(limits.streams == 7 && !limits.isFirstStreamGated && !limits.narrowsAfterRefusal)
    #expect(limits.errorBudget == 9 && limits.overrun == .refuse && limits.idleTimeout == .seconds(30))
    #expect(limits.requestsPerToken == 5 && limits.requestsPerSecond == 100)
    #expect(configuration.isWedgedByExpiredToken)
  }

  @Test("none turns a limit off")
  func off() throws {
    let limits = try configuration([
      "error-budget": "none", "idle-timeout": "none", "requests-per-token": "none", "requests-per-second": "none",
    ]).limits
    #expect(limits.errorBudget == nil && limits.idleTimeout == nil)
    #expect(limits.requestsPerToken == nil && limits.requestsPerSecond == nil)
  }

  @Test(
    "what is no number is told",
    arguments: [
      ("streams", "none"), ("streams", "0"), ("error-budget", "-1"), ("idle-timeout", "1.5"), ("overrun", ""),
    ])
  func wrong(name: String, value: String) {
    #expect(throws: UsageFault.self) { try configuration([name: value]) }
  }
}
