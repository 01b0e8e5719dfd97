import Basics
import Testing

@Suite("Points in time")
struct InstantTests {
  static let written: [(Int64, String)] = [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (1_796_000_000_123, "2026-11-30T00:53:20.123Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ]

  @Test("are written as RFC 3339 has them", arguments: written)
  func description(milliseconds: Int64, text: String) {
    #expect(Instant(milliseconds: milliseconds).description == text)
  }

  /// What a peer's number may be: `timestamp` of a 410, `apns-expiration`, `iat`.
  static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

  @Test("at the end of what a number holds neither trap nor turn round", arguments: extremes)
  func neverTraps(number: Int64) {
    let spans = Self.extremes.flatMap { [Instant.Span(milliseconds: $0), .days($0)] }
    for instant in [Instant(milliseconds: number), Instant(seconds: number)] {
      #expect(instant.description.hasSuffix("Z"))
      for span in spans {
        #expect(span.milliseconds >= 0 ? instant + span >= instant : instant + span <= instant)
        #expect(span.milliseconds >= 0 ? instant - span <= instant : instant - span >= instant)
      }
      for other in Self.extremes.map({ Instant(milliseconds: $0) }) {
        #expect(((instant - other).milliseconds >= 0) == (instant >= other))
      }
    }
  }
}
