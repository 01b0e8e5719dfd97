import Basics
import Delivery
import Testing

@Suite("The dates of a client certificate")
struct CertificateTermTests {
  static let start = Instant(seconds: 1_796_000_000)
  static let end = start + .days(365)

  static let rows: [(Instant, CertificateTerm)] = [
    (start - .milliseconds(1), .notBegun(start)), (start, .good), (end - .days(30) - .milliseconds(1), .good),
    (end - .days(30), .ending(end, days: 30)), (end - .days(7) - .milliseconds(1), .ending(end, days: 30)),
    (end - .days(7), .ending(end, days: 7)), (end - .days(1) - .milliseconds(1), .ending(end, days: 7)),
    (end - .days(1), .ending(end, days: 1)), (end, .ending(end, days: 1)), (end + .milliseconds(1), .ended(end)),
    (Instant(milliseconds: .min), .notBegun(start)), (Instant(milliseconds: .max), .ended(end)),
  ]

  @Test(
    "C28 the end is told 30 days, 7 days and a day ahead; before its time and after it a certificate is not used",
    arguments: rows)
  func terms(now: Instant, expected: CertificateTerm) {
    let term = CertificateTerm(notBefore: Self.start, notAfter: Self.end, at: now)
    #expect(term == expected)
    #expect(term.isValid == (Self.start...Self.end).contains(now))
    #expect((term.words(for: "push.p12") == nil) == (term == .good))
    #expect(term.words(for: "push.p12")?.contains("push.p12") != false)
  }
}
