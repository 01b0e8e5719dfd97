internal import Basics
internal import PushService

/// Prometheus text format 0.0.4.
enum MetricsText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Metrics of one name stand together, in the order in which the names first came.
  static func render(_ metrics: [Metric]) -> String {
    var names: [String] = []
    var groups: [String: [Metric]] = [:]
    for metric in metrics {
      if groups[metric.name] == nil { names.append(metric.name) }
      groups[metric.name, default: []].append(metric)
    }
    var text = ""
    for name in names {
      guard let group = groups[name], let first = group.first else { continue }
      text += "# HELP \(name) \(escaped(first.help))\n# TYPE \(name) \(kind(first.kind))\n"
      for metric in group {
        let labels = metric.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
        text += "\(name)\(metric.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(number(metric.value))\n"
      }
    }
    return text
  }

  private static func kind(_ kind: Metric.Kind) -> String {
    switch kind {
    case .counter: "counter"
    case .gauge: "gauge"
    case .histogram: "histogram"
    }
  }

  private static func number(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map(String.init) ?? String(value)
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

/// Counts the calls of this door.
final class CallCounts: Sendable {
  private struct Key: Hashable {
    var route: String
    var status: Int
  }

  private struct Tally {
    var calls = 0
    var milliseconds: Int64 = 0
  }

  private let tallies = Locked<[Key: Tally]>([:])

  func count(route: String, status: Int, took: Instant.Span) {
    tallies.withLock { tallies in
      tallies[Key(route: route, status: status), default: Tally()].calls += 1
      tallies[Key(route: route, status: status), default: Tally()].milliseconds += took.milliseconds
    }
  }

  var metrics: [Metric] {
    let tallies = tallies.withLock { $0.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) } }
    return tallies.map { key, tally in
      Metric(
        name: "belfry_http_requests_total", help: "Calls answered, by route and status.", kind: .counter,
        labels: Self.labels(key), value: Double(tally.calls))
    }
      + tallies.map { key, tally in
        Metric(
          name: "belfry_http_request_seconds_total", help: "Time from a call read whole to its answer ready.",
          kind: .counter, labels: Self.labels(key), value: Double(tally.milliseconds) / 1000)
      }
  }

  private static func labels(_ key: Key) -> [Metric.Label] {
    [Metric.Label(name: "route", value: key.route), Metric.Label(name: "status", value: String(key.status))]
  }
}
