import Audience
import Basics
import Store

/// What is told of one device in one push.
enum StoreTraceCases {
  static let all: [ConformanceCase<any Store>] = [
    ConformanceCase("explain tells every end of a device") { store in
      let app = try await store.sampleApp(devices: 5)
      let other = try await store.sampleApp("other", devices: 1)
      try await store.acceptSample(StoreSamples.push(1, of: app), to: .not(.registrationID("r\(app)x4")))
      let (hold, _, _) = try await store.hold(1, claiming: 4)
      let refused = DeviceOutcome(ordinal: 1, kind: .refused("TopicDisallowed"), status: 400, note: "n")
      _ = try await store.advanced(
        hold, [.init(ordinal: 0, kind: .accepted), refused, .init(ordinal: 2, kind: .expired)])
      let then = StoreSamples.noon + .minutes(2)
      try await store.setWaiting(push: 1, "why", at: then)
      try await store.setWaiting(push: 1, "why", at: then + .seconds(1))
      func state(_ number: Int) async throws -> DeviceTrace.State {
        let trace = try await store.found(app: app, push: 1, registrationID: "r\(app)x\(number)")
        try expect(trace.device.ordinal, is: DeviceOrdinal(number))
        try expect(trace.steps, is: [PushStep(at: then, kind: .waits("why"))])
        return trace.state
      }
      try expect(try await state(0), is: .accepted(at: then))
      try expect(try await state(1), is: .ended(refused, at: then))
      try expect(try await state(2), is: .ended(DeviceOutcome(ordinal: 2, kind: .expired), at: then))
      try expect(try await state(3), is: .pending(waiting: "why"))
      try expect(try await state(4), is: .notTargeted)
      func answer(_ push: Int64, _ registrationID: String) async throws -> DeviceTraceAnswer {
        try await store.trace(app: app, push: push, registrationID: registrationID)
      }
      try expect(try await answer(1, "r\(other)x0"), is: .noSuchDevice)
      try expect(try await answer(2, "r\(app)x0"), is: .noSuchPush)
      _ = try await store.advanced(hold, [.init(ordinal: 3, kind: .unanswered)], at: then + .minutes(1))
      try expect(try await state(0), is: .accepted(at: then), "also when all is done")
    },
    ConformanceCase("explain tells when each of two batches was accepted, and what was waited for") { store in
      let app = try await store.sampleApp(devices: 3)
      try await store.acceptSample(StoreSamples.push(1, of: app))
      let (hold, _, _) = try await store.hold(1, claiming: 3)
      let then = StoreSamples.noon + .minutes(2)
      _ = try await store.advanced(hold, [.init(ordinal: 0, kind: .accepted), .init(ordinal: 2, kind: .accepted)])
      try await store.setWaiting(push: 1, "why", at: then)
      try await store.setWaiting(push: 1, nil, at: then + .minutes(1))
      // An outcome that comes again changes nothing, its time neither.
      _ = try await store.advanced(
        hold, [.init(ordinal: 0, kind: .accepted), .init(ordinal: 1, kind: .accepted)], at: then + .minutes(2))
      for (number, at) in [(0, then), (1, then + .minutes(2)), (2, then)] {
        let trace = try await store.found(app: app, push: 1, registrationID: "r\(app)x\(number)")
        try expect(trace.state, is: .accepted(at: at))
        try expect(
          trace.steps,
          is: [PushStep(at: then, kind: .waits("why")), PushStep(at: then + .minutes(1), kind: .goesOn)])
      }
    },
    ConformanceCase("explain knows whether tags, alias or facts were changed after a push") { store in
      let app = try await store.sampleApp(devices: 6)
      let edits: [@Sendable (inout DeviceEdit) -> Void] = [
        { $0.addTags = ["late"] }, { $0.removeTags = ["early"] }, { $0.alias = .set("late") },
        { $0.facts.appVersion = "9" }, { $0.badge = 3 },
      ]
      func change(_ number: Int, _ edit: (inout DeviceEdit) -> Void) async throws {
        var change = DeviceEdit()
        edit(&change)
        _ = try await store.changeDevice(
          app: app, registrationID: "r\(app)x\(number)", change, limits: DeviceLimits())
      }
      try await change(1) { $0.addTags = ["early"] }
      func changed() async throws -> [Bool] {
        var answers: [Bool] = []
        for number in 0..<6 {
          let trace = try await store.found(app: app, push: 1, registrationID: "r\(app)x\(number)")
          answers.append(trace.changedSince)
        }
        return answers
      }
      try await store.acceptSample(StoreSamples.push(1, of: app))
      try expect(try await changed(), is: Array(repeating: false, count: 6))
      for (number, edit) in edits.enumerated() { try await change(number, edit) }
      var given = TagEdit()
      given.add = ["r\(app)x5"]
      _ = try await store.changeTag(app: app, name: "given", given, limits: DeviceLimits())
      try expect(try await changed(), is: [true, true, true, true, false, true])
    },
    ConformanceCase("explain names the later push that took a push's place") { store in
      let app = try await store.sampleApp(devices: 2)
      for (id, to) in [(1, AudienceExpression.everyone), (2, .registrationID("r\(app)x1")), (3, .everyone)] {
        var push = StoreSamples.push(Int64(id), of: app)
        push.collapseID = "score"
        try await store.acceptSample(push, to: to)
        let (hold, claimed, _) = try await store.hold(Int64(id), claiming: 2)
        _ = try await store.advanced(
          hold,
          claimed.map { .init(ordinal: $0.ordinal, kind: id == 2 ? .refused("BadTopic") : .accepted) })
      }
      for number in 0..<2 {
        let trace = try await store.found(app: app, push: 1, registrationID: "r\(app)x\(number)")
        try expect(trace.replacedBy?.push, is: 3, "the second went to one device, and was refused")
      }
      try expect(try await store.found(app: app, push: 3, registrationID: "r\(app)x0").replacedBy, is: nil)
    },
  ]
}

extension Store {
  func found(app: Int64, push: Int64, registrationID: String) async throws -> DeviceTrace {
    let answer = try await trace(app: app, push: push, registrationID: registrationID)
    guard case .found(let trace) = answer else { throw ConformanceFailure(description: "\(answer)") }
    return trace
  }
}
