import Delivery
import Testing

@Suite("A connection's streams")
struct StreamBudgetTests {
  @Test("C41 follow SETTINGS up and down at any time, and never below what is open")
  func followsSettings() {
    var budget = StreamBudget(ceiling: 1000)
    #expect(budget.free == 0, "nothing before the peer's first SETTINGS")
    budget.handle(.settings(maxConcurrentStreams: 1))
    #expect(budget.free == 1)
    budget.handle(.opened)
    #expect(budget.free == 0)
    budget.handle(.settings(maxConcurrentStreams: 1000))
    #expect(budget.free == 999)
    for _ in 0..<10 { budget.handle(.opened) }
    budget.handle(.settings(maxConcurrentStreams: 1))
    #expect(budget.free == 0)
    for _ in 0..<10 { budget.handle(.ended) }
    #expect(budget.free == 0)
    budget.handle(.ended)
    #expect(budget.free == 1)
    budget.handle(.settings(maxConcurrentStreams: 0))
    #expect(budget.free == 0)
    budget.handle(.settings(maxConcurrentStreams: .max))
    #expect(budget.free == 1000, "never more than we want")
    budget.handle(.ended)
    #expect(budget.free == 1000, "an end too many is no stream won")
  }

  @Test("go to one push alone while the provider token is unproven")
  func firstAlone() {
    var budget = StreamBudget(ceiling: 1000)
    budget.handle(.settings(maxConcurrentStreams: 1000))
    #expect(budget.free(for: .oneAlone) == 1)
    #expect(budget.free(for: .nothing) == 0)
    #expect(budget.free(for: .any) == 1000)
  }
}
