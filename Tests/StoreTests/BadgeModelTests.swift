import Basics
import BelfryTesting
import Store
import StoreSQLite
import Testing

/// Badges of a few devices under a random story of pushes, against the sum of what counts.
@Suite("C07 badges against a model", .timeLimit(.minutes(1)))
struct BadgeModelTests {
  /// What happened to one device's badge, in order.
  private enum Event {
    /// By the app, or the server.
    case told(Int32)
    case pushed(Int64, BadgeArithmetic)
    /// A push that set it, and never left.
    case unset
  }

  private struct Model {
    var events: [Event] = []
    /// Claimed, and it may be that the phone has it.
    var claimed: Set<Int64> = []

    /// By adding up from the beginning, without pushes that never left (but for those before it was set: nobody knows
    /// what they would have made of it).
    var badge: Int32 {
      events.reduce(0) { badge, event in
        switch event {
        case .told(let value): value
        case .pushed(_, let arithmetic): arithmetic.applied(to: badge)
        case .unset: badge
        }
      }
    }

    mutating func claim(_ push: Int64, _ arithmetic: BadgeArithmetic) {
      if claimed.insert(push).inserted { events.append(.pushed(push, arithmetic)) }
    }

    mutating func takeBack(_ push: Int64) {
      claimed.remove(push)
      guard let index = events.lastIndex(where: { if case .pushed(push, _) = $0 { true } else { false } }) else {
        return
      }
      let isSetSince = events[(index + 1)...].contains { event in
        switch event {
        case .told, .unset, .pushed(_, .set): true
        case .pushed(_, .none), .pushed(_, .add): false
        }
      }
      guard !isSetSince else { return }
      if case .pushed(_, .set) = events[index] { events[index] = .unset } else { events.remove(at: index) }
    }
  }

  private static let devices = 3

  @Test(
    "pushes under way at once, given back, refused, tried again after kill -9; reinstalled; told by the app",
    arguments: 0..<20 as Range<UInt64>)
  func story(seed: UInt64) async throws {
    var dice = Dice(seed: seed)
    func chance(_ sides: Int) -> Int { Int(dice.next() % UInt64(sides)) }
    var folder = TemporaryFolder()
    var store = try await StoreSQLite.open(folder: folder.path)
    let app = try await store.sampleApp(devices: Self.devices)
    func id(_ number: Int) -> String { "r\(app)x\(number)" }
    var models = Array(repeating: Model(), count: Self.devices)
    var arithmetic: [Int64: BadgeArithmetic] = [:]
    var holds: [(hold: ShardHold, claimed: [ClaimedDevice])] = []
    var holder: UInt64 = 0
    for _ in 0..<120 {
      switch chance(10) {
      case 0, 1:  // accepted
        let push = Int64(arithmetic.count + 1)
        let badge: BadgeArithmetic = [.add(1), .add(1), .add(3), .set(5), .set(0), .none][chance(6)]
        arithmetic[push] = badge
        try await store.acceptSample(StoreSamples.push(push, of: app, badge: badge))
      case 2, 3, 4:  // claimed
        guard !arithmetic.isEmpty else { continue }
        holder += 1
        let push = Int64(1 + chance(arithmetic.count))
        let start = try await store.begin(
          push: push, shard: 0, holder: holder, claiming: 1 + chance(Self.devices), at: StoreSamples.noon)
        guard case .begun(let shard) = start else { continue }
        for device in shard.claimed {
          models[Int(device.ordinal)].claim(push, arithmetic[push] ?? .none)
          #expect(device.badge == models[Int(device.ordinal)].badge, "as the phone is told it, seed \(seed)")
        }
        holds.append((shard.hold, shard.claimed))
      case 5, 6, 7:  // ended, each device its way
        guard !holds.isEmpty else { continue }
        let (hold, claimed) = holds.remove(at: chance(holds.count))
        var outcomes: [DeviceOutcome] = []
        var returning: [ReturnedClaim] = []
        for device in claimed {
          let number = Int(device.ordinal)
          switch chance(4) {
          case 0: outcomes.append(DeviceOutcome(ordinal: device.ordinal, kind: .accepted))
          case 1: outcomes.append(DeviceOutcome(ordinal: device.ordinal, kind: .unanswered))
          case 2:
            outcomes.append(
              DeviceOutcome(ordinal: device.ordinal, kind: .refused("TopicDisallowed"), uncounts: device.counted))
            // what a former process claimed may have reached the phone, so it stays counted
            if device.counted != nil { models[number].takeBack(hold.push) }
          default:
            returning.append(ReturnedClaim(device))
            if device.counted != nil { models[number].takeBack(hold.push) }
          }
        }
        _ = try await store.advance(
          hold, outcomes: outcomes, returning: returning, claiming: [], at: StoreSamples.noon)
        await store.release(hold)
      case 8:  // told
        let number = chance(Self.devices)
        var edit = DeviceEdit()
        let badge = Int32(chance(4))
        edit.badge = badge
        _ = try await store.changeDevice(app: app, registrationID: id(number), edit, limits: DeviceLimits())
        models[number].events.append(.told(badge))
      default:
        if chance(2) == 0 {  // the app is installed again, and APNs gives it the same token or another
          let number = chance(Self.devices)
          _ = try await store.register(StoreSamples.device(number, of: app))
        } else {
          let killed = folder
          folder = try killed.snapshot()
          await store.close()
          store = try await StoreSQLite.open(folder: folder.path)
          holds = []
        }
      }
      for number in 0..<Self.devices {
        let device = try #require(try await store.device(app: app, registrationID: id(number)))
        #expect(Int32(device.badge) == models[number].badge, "device \(number), seed \(seed)")
      }
    }
    await store.close()
  }
}
