import Basics
import Testing

@testable import Delivery

@Suite("What a connection owes, by stream")
struct OwedStreamsTests {
  @Test("does what a dictionary does, whatever comes", arguments: 0..<100 as Range<UInt64>)
  func dictionary(seed: UInt64) {
    var dice = Dice(seed: seed)
    var owed = OwedStreams()
    var model: [StreamID: PushID] = [:]
    var newest: Int32 = 1
    for number in 0..<4000 as Range<UInt32> {
      let stream: StreamID
      switch UInt8.random(in: 0..<20, using: &dice) {
      case 0: stream = StreamID(rawValue: Int32.random(in: .min ... .max, using: &dice))
      case 1: stream = StreamID(rawValue: Int32.random(in: -3...max(1, Int32(number) * 2), using: &dice))
      default:
        newest += 2
        stream = StreamID(rawValue: newest)
      }
      let push = PushID(rawValue: number)
      let before = owed.insert(push, on: stream)
      #expect(before == model.updateValue(push, forKey: stream))
      if Bool.random(using: &dice), let ended = model.keys.randomElement(using: &dice) {
        let other = StreamID(rawValue: Int32.random(in: 1...newest, using: &dice))
        for stream in [ended, other] {
          let removed = owed.remove(stream)
          #expect(removed == model.removeValue(forKey: stream))
        }
      }
      #expect(owed[stream] == model[stream])
      #expect(owed.count == model.count)
    }
    let expected = model.sorted { $0.key < $1.key }
    #expect(owed.inOrder.map(\.stream) == expected.map(\.key))
    let all = owed.removeAll()
    #expect(all == expected.map(\.value))
    #expect(owed.isEmpty)
  }

  @Test("a stream that waits for long keeps its push while many pass")
  func straggler() {
    var owed = OwedStreams()
    _ = owed.insert(7, on: 1)
    for number in 1..<100_000 as Range<Int32> {
      let stream = StreamID(rawValue: 2 * number + 1)
      _ = owed.insert(PushID(rawValue: UInt32(number)), on: stream)
      let removed = owed.remove(stream)
      #expect(removed?.rawValue == UInt32(number))
    }
    let straggler = owed.remove(1)
    #expect(straggler == 7)
    #expect(owed.isEmpty)
  }
}
