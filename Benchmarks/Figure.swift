import PushPayload

/// How long and how often to measure.
struct Setting: Sendable {
  /// Under a minute a name: fewer and shorter runs; the figures are rough.
  var isQuick = false
  /// Runs of each side; odd, so that a median is one of them.
  var runs: Int { isQuick ? 3 : 7 }

  func pushes(_ usual: Int) -> Int { isQuick ? usual / 4 : usual }
}

/// What was measured, run by run, of us and of the peer in turns.
struct Pair {
  var ours: [Double] = []
  var peer: [Double] = []

  func figure(
    _ id: String, _ what: String, _ unit: String, peer name: String, bar: Figure.Bar? = nil
  ) -> Figure {
    Figure(id: id, what: what, unit: unit, ours: ours, peerName: name, peer: peer, bar: bar)
  }
}

/// One measured number beside what a peer reached in the same run; medians, so that one slow run does not count.
struct Figure: Sendable {
  enum Bar: Sendable {
    case ratioAtLeast(Double)
    case ratioAtMost(Double)
    case atLeast(Double)
    case atMost(Double)
  }

  /// `b1` … `b7`, and the others that docs/benchmarks.md lists.
  var id: String
  var what: String
  var unit: String
  var ours: [Double]
  var peerName: String
  var peer: [Double]
  var bar: Bar?

  var value: Double { median(ours) }
  var peerValue: Double { median(peer) }
  /// Ours to the peer's, from the medians.
  var ratio: Double { value / peerValue }

  var isReached: Bool? {
    switch bar {
    case .ratioAtLeast(let bar): ratio >= bar
    case .ratioAtMost(let bar): ratio <= bar
    case .atLeast(let bar): value >= bar
    case .atMost(let bar): value <= bar
    case nil: nil
    }
  }

  var json: JSONValue {
    var object: JSONObject = [
      "id": .string(id), "what": .string(what), "value": number(value), "unit": .string(unit),
      "peer": .string(peerName), "peer_value": number(peerValue), "ratio": number(ratio),
      "runs": .number(JSONNumber(Int64(ours.count))),
      "values": .array(ours.map(number)), "peer_values": .array(peer.map(number)),
    ]
    if let bar { object["bar"] = .string(bar.words) }
    if let isReached { object["reached"] = .bool(isReached) }
    return .object(object)
  }

  var row: [String] {
    let verdict = isReached.map { $0 ? "yes" : "NO" } ?? ""
    return [
      id, what, "\(rounded(value)) \(unit)", peerName, peer.isEmpty ? "" : rounded(peerValue),
      peer.isEmpty ? "" : rounded(ratio), bar?.words ?? "", verdict, "\(ours.count)",
    ]
  }

  static let columns = ["name", "what", "ours", "peer", "its", "ratio", "bar", "reached", "runs"]

  private func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }
}

extension Figure.Bar {
  var words: String {
    switch self {
    case .ratioAtLeast(let bar): "ratio ≥ \(rounded(bar))"
    case .ratioAtMost(let bar): "ratio ≤ \(rounded(bar))"
    case .atLeast(let bar): "≥ \(rounded(bar))"
    case .atMost(let bar): "≤ \(rounded(bar))"
    }
  }
}

/// Rows under a head, columns as wide as their widest cell.
func table(_ rows: [[String]]) -> String {
  let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  return rows.map { row in
    zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
      .joined(separator: "  ")
  }.joined(separator: "\n")
}

/// Whole numbers from a thousand on, two places below.
func rounded(_ value: Double) -> String {
  if value.isFinite, value.magnitude >= 1000, value.magnitude < 1e18 { return String(Int64(value)) }
  let scaled = (value * 100).rounded() / 100
  return String(scaled)
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
