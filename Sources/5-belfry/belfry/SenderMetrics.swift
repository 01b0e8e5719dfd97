import APNSClient
import Basics
import PushService

/// What a client counts, as `/metrics` tells it: names and units by Prometheus' conventions, `app` (the bundle id, or `*`)
/// and `environment` on each. docs/serve.md lists them; `SenderMetricsTests` holds the two together.
enum SenderMetrics {
  static func list(
    _ metrics: APNSClientMetrics, app: String, environment: String, _ now: Instant
  ) -> [Metric] {
    let place: [Metric.Label] = [.init(name: "app", value: app), .init(name: "environment", value: environment)]
    func metric(
      _ name: String, _ kind: Metric.Kind, _ help: String, _ value: Double, _ label: (String, String)? = nil,
      suffix: String = ""
    ) -> Metric {
      let own = label.map { [Metric.Label(name: $0.0, value: $0.1)] } ?? []
      return Metric(
        name: "belfry_apns_" + name, help: help, kind: kind, labels: place + own, value: value, suffix: suffix)
    }
    func gauge(_ name: String, _ help: String, _ value: Int) -> Metric { metric(name, .gauge, help, Double(value)) }
    func counter(_ name: String, _ help: String, _ value: UInt64) -> Metric {
      metric(name, .counter, help, Double(value))
    }
    func counts(_ name: String, _ label: String, _ help: String, _ values: [String: UInt64]) -> [Metric] {
      values.sorted { $0.key < $1.key }.map { metric(name, .counter, help, Double($0.value), (label, $0.key)) }
    }
    var list = [
      gauge("pushes_in_flight", "Pushes that left and have no answer yet.", metrics.inFlight),
      gauge("pushes_waiting", "Pushes that wait for a stream, their next attempt or their device.", metrics.waiting),
      gauge("connections", "Connections that APNs has greeted.", metrics.connections),
      gauge("connections_opening", "Connections being opened.", metrics.connecting),
      gauge("streams_in_use", "Streams that carry a push now.", metrics.streamsInUse),
      gauge("streams_allowed", "Streams that APNs allows on these connections now.", metrics.streamsAllowed),
      counter("connections_opened_total", "Connections that came to be.", metrics.connectionsOpened),
      counter("connections_failed_total", "Connections that never came to be.", metrics.connectionsFailed),
      counter("goaways_total", "GOAWAY frames of APNs.", metrics.goAways),
    ]
    let answers = metrics.refused.merging(["Accepted": metrics.accepted]) { $1 }
    list += counts("answers_total", "reason", "Answers of APNs, by its reason; 200 is Accepted.", answers)
    list += counts(
      "pushes_refused_unsent_total", "reason", "Pushes that APNs was certain to refuse, so they were not sent.",
      metrics.refusedUnsent)
    list += counts(
      "pushes_unanswered_total", "cause", "Pushes that ended without an answer, by why.", metrics.unanswered)
    list += histogram(metrics.latency) { metric("answer_seconds", .histogram, $0, $1, $2, suffix: $3) }
    list += [
      gauge("devices_paused", "Devices spared after TooManyRequests.", metrics.pausedDevices),
      gauge("topics_suspected", "Topics that are refused again and again, or held.", metrics.suspectedTopics),
      counter("credential_rotations_total", "Credentials that took over.", metrics.credential.rotations),
      counter(
        "credential_rotations_refused_total", "Credentials that APNs refused, so that the old one went on.",
        metrics.credential.rotationsRefused),
    ]
    list += CredentialStatus.Standing.allCases.map {
      metric(
        "credential_state", .gauge, "1 for the state that the credential is in: good, held or probing.",
        metrics.credential.standing == $0 ? 1 : 0, ("state", $0.rawValue))
    }
    if let age = metrics.credential.tokenAge {
      list.append(
        metric(
          "provider_token_age_seconds", .gauge, "How old the provider token in use is; APNs takes 60 minutes.",
          Double(age.milliseconds) / 1000))
    }
    return list
  }

  /// Negative once it is past.
  static func expiry(_ end: Instant, app: String, at now: Instant) -> Metric {
    Metric(
      name: "belfry_apns_certificate_expiry_seconds", help: "How long the client certificate is good from now on.",
      kind: .gauge, labels: [.init(name: "app", value: app)], value: Double((end - now).milliseconds) / 1000)
  }

  private static func histogram(
    _ latency: LatencyHistogram, _ metric: (String, Double, (String, String)?, String) -> Metric
  ) -> [Metric] {
    let help = "From the last sending of a push to the answer that ended it."
    var below: UInt64 = 0
    var list = zip(LatencyHistogram.bounds, latency.counts).map { bound, count in
      below += count
      return metric(help, Double(below), ("le", seconds(bound)), "_bucket")
    }
    list.append(metric(help, Double(latency.count), ("le", "+Inf"), "_bucket"))
    list.append(metric(help, Double(latency.sum.milliseconds) / 1000, nil, "_sum"))
    list.append(metric(help, Double(latency.count), nil, "_count"))
    return list
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }
}
