import Basics
import PushPayload
import Testing

@testable import APNSSimulator

/// Events in order, and what each of them makes the connection do.
struct StandingRow: Sendable, CustomTestStringConvertible {
  var what: String
  var rules = ConnectionStanding.Rules()
  var story: [(ConnectionStanding.Event, ConnectionStanding.Effect?)]
  var limit: UInt32

  var testDescription: String { what }

  init(
    _ what: String, _ story: [(ConnectionStanding.Event, ConnectionStanding.Effect?)], limit: UInt32,
    _ change: (inout ConnectionStanding.Rules) -> Void = { _ in }
  ) {
    self.what = what
    self.story = story
    self.limit = limit
    change(&rules)
  }
}

@Suite("§2.1 How a connection stands with Apple")
struct ConnectionStandingTests {
  static let rows: [StandingRow] = [
    StandingRow("at first there is one stream", [], limit: 1),
    StandingRow("an acknowledged first SETTINGS changes nothing", [(.acknowledged, nil)], limit: 1),
    StandingRow("single → full: the first valid token or certificate", [(.proved, .announce(1000))], limit: 1000),
    StandingRow("proved twice is told once", [(.proved, .announce(1000)), (.proved, nil)], limit: 1000),
    StandingRow(
      "single stays single by refusals and by pushes taken without proof",
      [(.refused(.missingProviderToken), nil), (.acknowledged, nil), (.taken, nil)], limit: 1),
    StandingRow(
      "full → narrowed: a refusal, once the client knows the higher limit",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil),
        (.refused(.badDeviceToken), .announce(1)),
      ], limit: 1),
    StandingRow(
      "narrowed is not told again by more refusals",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil), (.refused(.badTopic), .announce(1)),
        (.refused(.badTopic), nil), (.acknowledged, nil), (.refused(.badTopic), nil),
      ], limit: 1),
    StandingRow(
      "narrowed → full: the next push that is taken, acknowledged or not",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil), (.refused(.badTopic), .announce(1)),
        (.taken, .announce(1000)), (.taken, nil),
      ], limit: 1000),
    StandingRow(
      "a lower limit waits for the acknowledgement of the higher one",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.refused(.badTopic), nil), (.acknowledged, .announce(1)),
        (.acknowledged, nil),
      ], limit: 1),
    StandingRow(
      "refused and taken before the acknowledgement: nothing to tell",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.refused(.badTopic), nil), (.taken, nil),
        (.acknowledged, nil),
      ], limit: 1000),
    StandingRow(
      "a client that acknowledges nothing is told no lower limit",
      [(.proved, .announce(1000)), (.refused(.badTopic), nil), (.refused(.badTopic), nil)], limit: 1),
    StandingRow(
      "410 is no error",
      [(.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil)]
        + [(.refused(.unregistered), nil), (.refused(.expiredToken), nil)], limit: 1000),
    StandingRow(
      "what is the server's fault is no error of the client's",
      [(.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil)]
        + [(.refused(.internalServerError), nil), (.refused(.serviceUnavailable), nil), (.refused(.shutdown), nil)],
      limit: 1000),
    StandingRow(
      "full → closing: too many errors, with the last one's reason, once",
      [
        (.proved, .announce(1000)), (.refused(.badTopic), nil), (.refused(.badPriority), nil),
        (.refused(.badPath), .dismiss(.badPath)), (.refused(.badPath), nil), (.taken, nil), (.proved, nil),
        (.acknowledged, nil),
      ], limit: 1000
    ) { $0.errorBudget = 3 },
    StandingRow(
      "single → closing: a client that never proves anything",
      [(.refused(.missingProviderToken), nil), (.refused(.missingProviderToken), .dismiss(.missingProviderToken))],
      limit: 1000
    ) { $0.errorBudget = 2 },
    StandingRow(
      "narrowed → closing",
      [
        (.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil), (.refused(.badTopic), .announce(1)),
        (.refused(.badTopic), .dismiss(.badTopic)),
      ], limit: 1000
    ) { $0.errorBudget = 2 },
    StandingRow(
      "BadDeviceToken closes faster than others",
      [
        (.proved, .announce(1000)), (.refused(.badDeviceToken), nil),
        (.refused(.badDeviceToken), .dismiss(.badDeviceToken)),
      ],
      limit: 1000
    ) { $0.errorBudget = 10 },
    StandingRow(
      "pushes that are taken pay errors back",
      [
        (.proved, .announce(1000)), (.refused(.badTopic), nil), (.taken, nil), (.refused(.badTopic), nil),
        (.taken, nil),
        (.taken, nil), (.refused(.badTopic), nil), (.refused(.badTopic), .dismiss(.badTopic)),
      ], limit: 1000
    ) { $0.errorBudget = 2 },
    StandingRow("off: no gate", [(.proved, nil), (.acknowledged, nil)], limit: 1000) { $0.isGated = false },
    StandingRow(
      "off: no narrowing",
      [(.acknowledged, nil), (.proved, .announce(1000)), (.acknowledged, nil)]
        + [(.refused(.badTopic), nil), (.taken, nil)], limit: 1000
    ) { $0.narrowsAfterRefusal = false },
    StandingRow(
      "off: no error budget",
      [(.proved, .announce(1000))]
        + Array(repeating: (.refused(.badDeviceToken), nil), count: 2000), limit: 1000
    ) {
      $0.errorBudget = nil
      $0.narrowsAfterRefusal = false
    },
    StandingRow("another limit", [(.proved, .announce(500))], limit: 500) { $0.limit = 500 },
  ]

  @Test("every transition, and every part turned off", arguments: rows)
  func followsTheTable(row: StandingRow) {
    var standing = ConnectionStanding(rules: row.rules)
    for (index, (event, effect)) in row.story.enumerated() {
      let performed = standing.handle(event)
      #expect(performed == effect, "step \(index): \(event)")
    }
    #expect(standing.limit == row.limit)
  }

  @Test("the budget of 500 is a hundred BadDeviceTokens or five hundred other errors")
  func defaultBudget() {
    for (reason, count) in [(RefusalReason.badDeviceToken, 100), (.badTopic, 500)] {
      var standing = ConnectionStanding(rules: ConnectionStanding.Rules())
      _ = standing.handle(.proved)
      let effects = (0..<count).map { _ in standing.handle(.refused(reason)) }
      #expect(effects.dropLast().allSatisfy { $0 == nil })
      #expect(effects.last == .dismiss(reason))
    }
  }

  /// How many of so many requests may begin.
  private func begun(_ standing: inout ConnectionStanding, of count: Int) -> Int {
    (0..<count).count { _ in standing.begin() }
  }

  @Test("requests above the limit wait; each stream that ends, and each higher limit, lets others begin")
  func admission() {
    var standing = ConnectionStanding(rules: ConnectionStanding.Rules())
    #expect(begun(&standing, of: 2) == 1 && standing.inWork == 1)
    standing.end()
    #expect(begun(&standing, of: 2) == 1)
    _ = standing.handle(.proved)
    #expect(begun(&standing, of: 2000) == 999)
    standing.end()
    #expect(begun(&standing, of: 2) == 1)
    for _ in 0..<2000 { standing.end() }
    #expect(standing.inWork == 0 && begun(&standing, of: 1) == 1)
  }

  @Test("a lower limit never stops what has begun")
  func narrowedInWork() {
    var standing = ConnectionStanding(rules: ConnectionStanding.Rules())
    for event in [ConnectionStanding.Event.acknowledged, .proved, .acknowledged] { _ = standing.handle(event) }
    #expect(begun(&standing, of: 10) == 10)
    let narrowed = standing.handle(.refused(.badTopic))
    #expect(narrowed == .announce(1))
    #expect(standing.inWork == 10 && begun(&standing, of: 1) == 0)
    for _ in 0..<10 { standing.end() }
    #expect(begun(&standing, of: 2) == 1)
  }

  /// Whatever comes: what was announced last is what holds once all is acknowledged, and nothing follows a dismissal.
  @Test("under chance the client ends up knowing the limit that holds", arguments: 0..<200 as Range<UInt64>)
  func settles(seed: UInt64) {
    var dice = Dice(seed: seed)
    var rules = ConnectionStanding.Rules()
    rules.errorBudget = seed % 3 == 0 ? nil : Int.random(in: 1...40, using: &dice)
    var standing = ConnectionStanding(rules: rules)
    var (told, pending, isDismissed) = (rules.firstLimit, 1, false)
    func perform(_ effect: ConnectionStanding.Effect?) {
      guard let effect else { return }
      #expect(!isDismissed)
      switch effect {
      case .announce(let limit):
        #expect(limit != told)
        told = limit
        pending += 1
      case .dismiss: isDismissed = true
      }
    }
    for _ in 0..<200 {
      let event: ConnectionStanding.Event =
        switch Int.random(in: 0...5, using: &dice) {
        case 0: .proved
        case 1, 2: .taken
        case 3: .refused(.badDeviceToken)
        case 4: .refused(RefusalReason.allCases.randomElement(using: &dice) ?? .badTopic)
        default: .acknowledged
        }
      if event == .acknowledged { pending = max(0, pending - 1) }
      perform(standing.handle(event))
    }
    while pending > 0 {
      pending -= 1
      perform(standing.handle(.acknowledged))
    }
    if !isDismissed { #expect(told == standing.limit) }
  }
}
