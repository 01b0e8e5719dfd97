import Audience
import Basics
import Store

enum StoreSegmentCases {
  private static func segment(_ id: String, _ audience: AudienceExpression) -> StoredSegment {
    StoredSegment(id: id, document: Array("{\"x\": 1}".utf8), audience: audience, updatedAt: StoreSamples.noon)
  }

  private static func test(_ id: String, _ parts: [(String, Range<UInt16>)]) -> StoredABTest {
    StoredABTest(
      id: id, variants: parts.map { AudienceShare(test: id, variant: $0.0, slots: $0.1) },
      createdAt: StoreSamples.noon)
  }

  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("a segment is kept, replaced while it is what was read, listed and deleted") { store in
      let app = try await store.sampleApp("one")
      let other = try await store.sampleApp("two")
      let first = try require(try await store.keepSegment(app: app, segment("b", .tag("x")), ifVersion: nil))
      try expect(first.version, is: 1)
      try expect(try await store.segment(app: app, id: "b"), is: first)
      try expect(try await store.segment(app: other, id: "b"), is: nil)
      try expect(try await store.keepSegment(app: app, segment("b", .everyone), ifVersion: 2), is: nil)
      try expect(try await store.keepSegment(app: app, segment("c", .everyone), ifVersion: 1), is: nil, "not there")
      let second = try require(try await store.keepSegment(app: app, segment("b", .everyone), ifVersion: 1))
      try expect(second.version, is: 2)
      try expect(second.audience, is: .everyone)
      _ = try await store.keepSegment(app: app, segment("a", .tag("y")), ifVersion: nil)
      try expect(try await store.segments(app: app, after: nil, limit: 9).map(\.id), is: ["a", "b"])
      try expect(try await store.segments(app: app, after: "a", limit: 9), is: [second])
      try expect(try await store.deleteSegment(app: app, id: "b"), is: true)
      try expect(try await store.deleteSegment(app: app, id: "b"), is: false)
      try expect(try await store.segment(app: app, id: "b"), is: nil)
    },
    ConformanceCase("an A/B test is kept once, and knows its pushes") { store in
      let app = try await store.sampleApp(devices: 2)
      let kept = test("t", [("a", 0..<5000), ("b", 5000..<10_000)])
      try expect(try await store.keepTest(app: app, kept), is: nil)
      try expect(try await store.keepTest(app: app, test("t", [("a", 0..<1)])), is: kept)
      try expect(try await store.test(app: app, id: "t"), is: kept)
      try expect(try await store.tests(app: app, after: nil, limit: 9), is: [kept])
      for (id, variant) in [(71, 1), (72, 0), (73, 0)] as [(Int64, Int)] {
        var push = StoreSamples.push(id, of: app)
        push.audience = .all([.everyone, .share(kept.variants[variant])])
        try await store.acceptSample(push)
        try expect(try await store.progress(app: app, push: id)?.push, is: push)
      }
      try expect(
        try await store.pushes(app: app, ofTest: "t", limit: 9),
        is: [
          VariantPush(variant: "b", push: 71), VariantPush(variant: "a", push: 72), VariantPush(variant: "a", push: 73),
        ])
      try expect(try await store.pushes(app: app, ofTest: "u", limit: 9), is: [])
      try expect(try await store.deleteTest(app: app, id: "t"), is: true)
      try expect(try await store.deleteTest(app: app, id: "t"), is: false)
      try expect(try await store.pushes(app: app, ofTest: "t", limit: 9).count, is: 3)
    },
  ]
}
