import Basics
import PushPayload
import Testing

@testable import Delivery

@Suite("A batch of pushes in one piece of memory")
struct PushBatchTests {
  private static let shared = PushBatch.Shared(
    topic: "com.example.app", pushType: .alert, priority: .immediate, expiration: 4_000_000_000, collapseID: "news")

  private static func push(_ number: UInt8) -> OutgoingPush {
    OutgoingPush(
      id: "00112233-4455-6677-8899-aabbccddeeff", token: [0x00, 0x9A, 0xFF, number], topic: "com.example.app",
      pushType: .alert, priority: .immediate, expiration: 4_000_000_000, collapseID: "news",
      payload: Array(#"{"aps":{"badge":\#(number)}}"#.utf8))
  }

  @Test("gives back what was put in, and what will be on the wire")
  func roundTrip() {
    let pushes = (0..<200).map { Self.push(UInt8($0)) }
    let batch = PushBatch(pushes)
    #expect(batch.count == 200)
    #expect(batch.shared == [Self.shared])
    #expect((0..<200).map { batch.push(at: $0) } == pushes)
    #expect(batch.wire(at: 11).path.elementsEqual("/3/device/009aff0b".utf8))
    #expect(batch.wire(at: 11).tokenCount == 4)
  }

  @Test("an id as bits is written in lower case with its hyphens")
  func bits() {
    var batch = PushBatch()
    let shared = batch.share(Self.shared)
    batch.append(
      id: UUIDBits(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF), token: [0, 0x9A, 0xFF, 5], shared: shared,
      bodySize: 100
    ) { body in
      body.copyBytes(from: Self.push(5).payload)
      return Self.push(5).payload.count
    }
    #expect(batch.push(at: 0) == Self.push(5))
    #expect(UUIDBits(version4: .max, .max) == UUIDBits(high: 0xFFFF_FFFF_FFFF_4FFF, low: 0xBFFF_FFFF_FFFF_FFFF))
  }

  @Test("what is no UUID is not taken")
  func wrongID() {
    var batch = PushBatch()
    let shared = batch.share(Self.shared)
    let isTaken = batch.append(id: "not a UUID", token: [1], shared: shared, body: [1])
    #expect(!isTaken)
    #expect(batch.isEmpty)
  }

  @Test("a copy that is changed leaves the other as it was")
  func values() {
    let first = PushBatch([Self.push(1)])
    var second = first
    let shared = second.share(Self.shared)
    let isTaken = second.append(
      id: Self.push(2).id, token: Self.push(2).token, shared: shared, body: Self.push(2).payload)
    #expect(isTaken)
    var third = second
    third.removeAll()
    #expect(third.isEmpty)
    #expect(first.count == 1)
    #expect(first.push(at: 0) == Self.push(1))
    #expect([second.push(at: 0), second.push(at: 1)] == [Self.push(1), Self.push(2)])
  }
}
