import Basics
import Testing

@testable import APNSSimulator

@Suite("How often may be asked")
struct RequestRateTests {
  private let start = Instant(seconds: 1_796_000_000)

  /// How many of so many requests are admitted.
  private func admitted(_ rate: inout RequestRate, of count: Int, at time: Instant) -> Int {
    (0..<count).count { _ in rate.admits(now: time) }
  }

  private func admitted(_ meter: inout TokenMeter, _ token: [UInt8], of count: Int, at time: Instant) -> Int {
    (0..<count).count { _ in meter.admits(token, most: 3, now: time) }
  }

  @Test("so many a second of all together; each second begins anew, also when the clock is set back")
  func rate() {
    var rate = RequestRate(most: 2)
    #expect(admitted(&rate, of: 5, at: start) == 2)
    #expect(admitted(&rate, of: 5, at: start + .milliseconds(999)) == 0)
    #expect(admitted(&rate, of: 5, at: start + .seconds(1)) == 2)
    #expect(admitted(&rate, of: 5, at: start - .hours(1)) == 2)
  }

  @Test("so many a window to each token; refused ones do not count, another clock begins anew")
  func meter() {
    var meter = TokenMeter(window: .minutes(1))
    #expect(admitted(&meter, [1], of: 5, at: start) == 3)
    #expect(admitted(&meter, [2], of: 2, at: start + .seconds(30)) == 2)
    #expect(admitted(&meter, [1], of: 1, at: start + .seconds(59)) == 0)
    #expect(admitted(&meter, [1], of: 5, at: start + .seconds(60)) == 3)
    #expect(admitted(&meter, [2], of: 5, at: start + .seconds(60)) == 3)
    #expect(admitted(&meter, [1], of: 5, at: start - .hours(1)) == 3)
  }
}
