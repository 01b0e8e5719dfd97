import Basics

/// Counts since the start of the process.
final class ServiceMetrics: Sendable {
  private let counts = Locked(Counts())

  struct Counts: Sendable {
    var pushesAccepted = 0
    var pushesRepeated = 0
    var pushesFinished = 0
    var registrations = 0
    var tokensRetired = 0
    var tokensKept = 0
    var storeFaults = 0
    var outcomes: [String: Int] = [:]
    var sayings: [String: Int] = [:]
    var webhookPosts: [String: Int] = [:]
    var webhookEventsDropped = 0
    var shardsUnderWay = 0
    var appsWaiting = 0
  }

  func change(_ body: @Sendable (inout Counts) -> Void) { counts.withLock { body(&$0) } }

  var list: [Metric] {
    let counts = counts.withLock { $0 }
    func metric(
      _ name: String, _ kind: Metric.Kind, _ help: String, _ value: Int, _ label: Metric.Label? = nil
    ) -> Metric {
      Metric(name: name, help: help, kind: kind, labels: label.map { [$0] } ?? [], value: Double(value))
    }
    return [
      metric("belfry_pushes_accepted_total", .counter, "Pushes taken and made durable.", counts.pushesAccepted),
      metric("belfry_pushes_repeated_total", .counter, "Pushes answered by their cid.", counts.pushesRepeated),
      metric("belfry_pushes_finished_total", .counter, "Pushes whose every device ended.", counts.pushesFinished),
      metric("belfry_registrations_total", .counter, "Registrations of devices.", counts.registrations),
      metric("belfry_tokens_retired_total", .counter, "Tokens that APNs said are dead.", counts.tokensRetired),
      metric("belfry_tokens_kept_total", .counter, "Tokens kept against older evidence.", counts.tokensKept),
      metric("belfry_store_faults_total", .counter, "Operations that the store did not do.", counts.storeFaults),
      metric("belfry_shards_under_way", .gauge, "Shards being sent now.", counts.shardsUnderWay),
      metric("belfry_apps_waiting", .gauge, "Apps and environments that wait for an operator.", counts.appsWaiting),
    ]
      + counts.outcomes.sorted { $0.key < $1.key }.map {
        metric(
          "belfry_device_outcomes_total", .counter, "Devices that ended, by how.", $0.value,
          .init(name: "outcome", value: $0.key))
      }
      + counts.sayings.sorted { $0.key < $1.key }.map {
        metric(
          "belfry_device_reports_total", .counter, "What devices said became of pushes, each counted once.", $0.value,
          .init(name: "kind", value: $0.key))
      }
      + counts.webhookPosts.sorted { $0.key < $1.key }.map {
        metric(
          "belfry_webhook_posts_total", .counter, "Posts to webhooks and callbacks, by what came of them.", $0.value,
          .init(name: "result", value: $0.key))
      }
      + [
        metric(
          "belfry_webhook_events_dropped_total", .counter, "Events that no webhook or callback took in time.",
          counts.webhookEventsDropped)
      ]
  }
}
