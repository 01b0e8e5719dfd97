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

  @Test("are read again as they were written", arguments: written.dropLast(2) + [written[5]])
  func readBack(milliseconds: Int64, text: String) {
    #expect(Instant(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test(
    "are read in every form of RFC 3339, and in no other",
    arguments: [
      ("2026-11-30T10:00:00Z", 1_796_032_800_000), ("2026-11-30t10:00:00.5z", 1_796_032_800_500),
      ("2026-11-30 10:00:00.123999+00:00", 1_796_032_800_123), ("2026-11-30T18:00:00+08:00", 1_796_032_800_000),
      ("2026-11-30T05:30:00-04:30", 1_796_032_800_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
      ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
      ("2026-02-29T00:00:00Z", nil), ("2026-11-31T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil),
      ("2026-11-30T24:00:00Z", nil), ("2026-11-30T10:00:00", nil), ("2026-11-30T10:00:00.Z", nil),
      ("2026-11-30", nil), ("2026-11-30T10:00:00+0800", nil), ("2026-11-30T10:00:00Z ", nil), ("", nil),
      ("٢٠٢٦-11-30T10:00:00Z", nil),
    ] as [(String, Int64?)])
  func readForms(text: String, milliseconds: Int64?) {
    #expect(Instant(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test(
    "lengths of time are read with their unit only",
    arguments: [
      ("250ms", 250), ("5s", 5000), ("0s", 0), ("2m", 120_000), ("1h", 3_600_000), ("30d", 2_592_000_000), ("5", nil),
      ("s", nil), ("-1s", nil), ("1.5s", 1500), ("0.25m", 15_000), ("1.0006s", 1001), ("1.s", nil), (".5s", nil),
      ("1.2.3s", nil), ("5 s", nil), ("5S", nil), ("99999999999999999999s", nil),
      ("9223372036854775807.9d", Int64.max),
    ] as [(String, Int64?)])
  func spans(text: String, milliseconds: Int64?) {
    #expect(Instant.Span(text)?.milliseconds == milliseconds)
  }

  @Test(
    "lengths of time are written in the largest unit without a fraction",
    arguments: [
      (0, "0ms"), (250, "250ms"), (1500, "1500ms"), (2000, "2s"), (90_000, "90s"), (120_000, "2m"), (172_800_000, "2d"),
      (Int64.max, "9223372036854775807ms"),
    ] as [(Int64, String)])
  func writtenSpans(milliseconds: Int64, text: String) {
    #expect(Instant.Span(milliseconds: milliseconds).text == text)
    #expect(Instant.Span(text)?.milliseconds == milliseconds)
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
