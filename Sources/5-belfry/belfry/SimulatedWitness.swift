import APNSSimulator
import Basics
import Phone
import PhoneLab
import PushPayload
import PushService

/// What the simulated APNs and the simulated phones of this process saw of a push.
final class SimulatedWitness: PhoneWitness {
  private let simulator: APNSSimulator
  private let lab = Locked<PhoneLab?>(nil)

  init(_ simulator: APNSSimulator) { self.simulator = simulator }

  /// Phones that came into the process later.
  func add(_ lab: PhoneLab) { self.lab.withLock { $0 = lab } }

  func testimony(of push: PushMark) async -> [PushExplanation.Decision] {
    var told: [PushExplanation.Decision] = []
    for entry in simulator.notifications(id: push.apnsID) {
      for (at, words) in entry.history {
        told.append(.init(at: at, by: .apns, words: "\(entry.device): \(words)"))
      }
    }
    let lab = lab.withLock { $0 }
    for seen in await lab?.entries(of: push.apnsID, message: push.messageID, request: push.collapseID) ?? [] {
      told.append(
        .init(at: seen.entry.time, by: .phone, words: "\(seen.phone): \(seen.entry.what.words) (\(seen.entry.rule))"))
    }
    return told
  }
}
