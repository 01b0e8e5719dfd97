import Basics
import Schedule
import Testing

@Suite("A pace")
struct SendPaceTests {
  private let start = Instant(seconds: 1_800_000_000)

  @Test(
    "lets devices go evenly, the first at once, and all within its time",
    arguments: [(60, 60_000), (7, 1000), (1000, 1000), (1, 60_000), (100_000, 84_000_000), (3, 10_000)])
  func evenly(devices: Int64, milliseconds: Int64) {
    let pace = SendPace(devices: devices, per: .milliseconds(milliseconds))
    var progress = SendPace.Progress(anchor: start)
    let step = min(max(1, milliseconds / 500), 9000)
    var released: Int64 = 0
    for elapsed in Array(stride(from: 0, to: milliseconds, by: Int64.Stride(step))) + [milliseconds] {
      let now = start + .milliseconds(elapsed)
      let due = elapsed * devices / milliseconds + 1
      let allowance = pace.allowance(&progress, at: now)
      #expect(allowance == due - released, "after \(elapsed) ms")
      progress.released += allowance
      released += allowance
      #expect(pace.next(progress) > now)
    }
    #expect(released >= devices)
  }

  @Test("the next is due to the millisecond")
  func next() {
    let pace = SendPace(devices: 7, per: .seconds(1))
    var progress = SendPace.Progress(anchor: start)
    for _ in 0..<100 {
      let next = pace.next(progress)
      var early = progress
      if next > start { #expect(pace.allowance(&early, at: next - .milliseconds(1)) == 0) }
      #expect(pace.allowance(&progress, at: next) == 1)
      progress.released += 1
    }
    #expect(pace.next(progress) - start == .milliseconds(14_286))
  }

  @Test("what was missed is made up for ten seconds back and no further")
  func missed() {
    let pace = SendPace(devices: 100, per: .seconds(1))
    var progress = SendPace.Progress(anchor: start)
    progress.released = pace.allowance(&progress, at: start)
    #expect(pace.allowance(&progress, at: start + .seconds(9)) == 900)
    #expect(pace.allowance(&progress, at: start + .hours(3)) == 1001)
    progress.released = 1001
    #expect(pace.allowance(&progress, at: start + .hours(3) + .seconds(1)) == 100)
  }

  @Test("a clock that is set back or forward holds nobody up and lets nobody flood")
  func clockSet() {
    let pace = SendPace(devices: 60, per: .minutes(1))
    var progress = SendPace.Progress(anchor: start)
    progress.released = pace.allowance(&progress, at: start)
    let back = start - .days(1)
    #expect(pace.allowance(&progress, at: back) == 1)
    progress.released += 1
    #expect(pace.allowance(&progress, at: back + .seconds(1)) == 1)
    progress.released += 1
    #expect(pace.allowance(&progress, at: start + .days(9)) == 11)
  }

  @Test("no number traps", arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, -1, 0, 1, .max])
  func extremes(devices: Int64, milliseconds: Int64) {
    let pace = SendPace(devices: devices, per: .milliseconds(milliseconds))
    for anchor in [Int64.min, 0, .max] {
      for now in [Int64.min, 0, .max] {
        for released in [0, 1, Int64.max] {
          var progress = SendPace.Progress(anchor: Instant(milliseconds: anchor), released: released)
          #expect(pace.allowance(&progress, at: Instant(milliseconds: now)) >= 0)
          _ = pace.next(progress)
        }
      }
    }
  }
}
