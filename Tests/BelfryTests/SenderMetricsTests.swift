import APNSClient
import Basics
import PushService
import Testing

@testable import HTTPAPI
@testable import belfry

/// The text format of Prometheus (0.0.4), read as strictly as a scraper does.
struct MetricsReader {
  struct Sample: Equatable {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  struct Fault: Error {
    var line: String
    init(_ line: Substring) { self.line = String(line) }
  }

  var types: [String: String] = [:]
  var helps: Set<String> = []
  var samples: [Sample] = []

  init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Fault("no newline at the end") }
    var family = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("# HELP ") {
        guard words.count == 4, helps.insert(String(words[2])).inserted else { throw Fault(line) }
      } else if line.hasPrefix("# TYPE ") {
        family = String(words[2])
        guard helps.contains(family), types[family] == nil else { throw Fault(line) }
        types[family] = String(words[3])
      } else {
        let sample = try Self.sample(line)
        let suffixes = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { sample.name == family + $0 }) else { throw Fault(line) }
        guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
          throw Fault(line)
        }
        samples.append(sample)
      }
    }
  }

  private static func sample(_ line: Substring) throws -> Sample {
    guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
      throw Fault(line)
    }
    var rest = line[..<space]
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard let first = name.first, !first.isNumber else { throw Fault(line) }
    rest = rest.dropFirst(name.count)
    var labels: [String: String] = [:]
    if !rest.isEmpty {
      guard rest.first == "{", rest.last == "}" else { throw Fault(line) }
      rest = rest.dropFirst().dropLast()
      while !rest.isEmpty {
        let label = rest.prefix { $0 != "=" }
        rest = rest.dropFirst(label.count)
        guard rest.hasPrefix("=\""), !label.isEmpty else { throw Fault(line) }
        rest = rest.dropFirst(2)
        var text = ""
        while let character = rest.popFirst(), character != "\"" {
          text.append(character == "\\" ? (rest.popFirst() ?? " ") : character)
        }
        guard labels.updateValue(text, forKey: String(label)) == nil else { throw Fault(line) }
        if rest.first == "," { rest = rest.dropFirst() }
      }
    }
    return Sample(name: String(name), labels: labels, value: value)
  }

  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    samples.first { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }?.value
  }
}

@Suite("The metrics of the way to APNs")
struct SenderMetricsTests {
  static var metrics: APNSClientMetrics {
    var metrics = APNSClientMetrics()
    (metrics.inFlight, metrics.waiting, metrics.streamsInUse, metrics.streamsAllowed) = (3, 2, 3, 1000)
    metrics.accepted = 10
    metrics.refused = ["Unregistered": 4, "say \"what\"\n": 1]
    metrics.refusedUnsent = ["PayloadTooLarge": 2]
    metrics.unanswered = ["expired": 1]
    for milliseconds in [1, 3, 3, 60, 20_000] as [Int64] { metrics.latency.record(.milliseconds(milliseconds)) }
    metrics.credential.tokenAge = .seconds(90)
    metrics.credential.standing = .held
    return metrics
  }

  static let now = Instant(seconds: 1_796_000_000)

  static func text() -> String {
    MetricsText.render(
      SenderMetrics.list(metrics, app: "com.example.app", environment: "sandbox", now)
        + SenderMetrics.list(metrics, app: "*", environment: "production", now)
        + [SenderMetrics.expiry(now + .days(7), app: "com.example.app", at: now)])
  }

  @Test("are what a scraper reads: one TYPE and HELP a name, no number twice, labels for app and environment")
  func wellFormed() throws {
    let read = try MetricsReader(Self.text())
    #expect(Set(read.types.keys) == read.helps)
    for (name, type) in read.types {
      #expect(name.hasPrefix("belfry_apns_"))
      #expect(name.hasSuffix("_total") == (type == "counter"), "\(name) is a \(type)")
    }
    #expect(read.samples.allSatisfy { $0.labels["app"] != nil })
    let here = ["app": "com.example.app", "environment": "sandbox"]
    #expect(read.value("belfry_apns_pushes_in_flight", here) == 3)
    #expect(read.value("belfry_apns_streams_allowed", here) == 1000)
    #expect(read.value("belfry_apns_answers_total", here.merging(["reason": "Accepted"]) { $1 }) == 10)
    #expect(read.value("belfry_apns_answers_total", here.merging(["reason": "Unregistered"]) { $1 }) == 4)
    #expect(read.value("belfry_apns_provider_token_age_seconds", here) == 90)
    #expect(read.value("belfry_apns_certificate_expiry_seconds", ["app": "com.example.app"]) == 604_800)
    #expect(read.value("belfry_apns_credential_state", here.merging(["state": "held"]) { $1 }) == 1)
    #expect(read.value("belfry_apns_credential_state", here.merging(["state": "good"]) { $1 }) == 0)
  }

  @Test("a histogram's buckets grow to its count, in seconds")
  func histogram() throws {
    let read = try MetricsReader(Self.text())
    let mine = read.samples.filter { $0.labels["environment"] == "sandbox" }
    let buckets = mine.filter { $0.name == "belfry_apns_answer_seconds_bucket" }
    #expect(buckets.count == LatencyHistogram.bounds.count + 1)
    #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
    #expect(buckets.compactMap { $0.labels["le"].flatMap(Double.init) }.first == 0.001)
    #expect(buckets.last?.labels["le"] == "+Inf" && buckets.last?.value == 5)
    #expect(read.value("belfry_apns_answer_seconds_bucket", ["le": "0.005"]) == 3)
    #expect(read.value("belfry_apns_answer_seconds_count") == 5)
    #expect(read.value("belfry_apns_answer_seconds_sum") == 20.067)
  }
}
