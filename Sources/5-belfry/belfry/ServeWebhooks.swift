import Basics
import HTTPClient
import PushService
import Store

/// Where webhooks may lead, and when many failures are told.
struct WebhookSettings: Equatable, Sendable {
  /// Besides the public internet.
  var allowed: [AddressRange] = []
  var spike = FailureSpike()

  /// For `belfry config`.
  var words: String {
    let places = ["the public internet"] + allowed.map(\.description)
    return "\(places.joined(separator: ", ")); told of \(spike.devices) devices and \(spike.percent) % that fail in "
      + "\(spike.minutes) minutes"
  }
}

extension ServeConfiguration {
  /// `webhooks` in the file.
  struct Webhooks: Equatable, Sendable, Decodable {
    /// Addresses to which webhooks may lead besides those of the public internet, as `10.1.0.0/16` or `127.0.0.1`. Default:
    /// none.
    var allow: [String]?
    var failureSpike: Spike?

    struct Spike: Equatable, Sendable, Decodable {
      /// So many devices must fail at least. Default 20.
      var devices: Int?
      /// And so many of 100 that end. Default 20.
      var percent: Int?
      /// Within so many minutes. Default 10.
      var minutes: Int?

      init(from decoder: any Decoder) throws {
        let container = try decoder.strict(["devices", "percent", "minutes"])
        devices = try container.decodeIfPresent(Int.self, forKey: "devices")
        percent = try container.decodeIfPresent(Int.self, forKey: "percent")
        minutes = try container.decodeIfPresent(Int.self, forKey: "minutes")
      }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["allow", "failureSpike"])
      allow = try container.decodeIfPresent([String].self, forKey: "allow")
      failureSpike = try container.decodeIfPresent(Spike.self, forKey: "failureSpike")
    }

    func settings() throws(CommandFault) -> WebhookSettings {
      var settings = WebhookSettings()
      for (index, text) in (allow ?? []).enumerated() {
        guard let range = AddressRange(text) else {
          throw CommandFault("webhooks.allow[\(index)]: '\(text)' is no address or range, as 10.1.0.0/16 or 127.0.0.1")
        }
        settings.allowed.append(range)
      }
      func number(
        _ value: Int?, _ name: String, _ range: ClosedRange<Int>, or usual: Int
      ) throws(CommandFault) -> Int {
        guard let value else { return usual }
        guard range ~= value else {
          throw CommandFault("webhooks.failureSpike.\(name): give \(range.lowerBound) to \(range.upperBound)")
        }
        return value
      }
      let usual = settings.spike
      settings.spike.devices = try number(failureSpike?.devices, "devices", 1...1_000_000_000, or: usual.devices)
      settings.spike.percent = try number(failureSpike?.percent, "percent", 1...100, or: usual.percent)
      settings.spike.minutes = try number(failureSpike?.minutes, "minutes", 1...1440, or: usual.minutes)
      return settings
    }
  }
}

extension Webhooking {
  /// Through libcurl: a line for each webhook, so that none waits for another, and none goes where `settings` do not allow.
  init(_ settings: WebhookSettings) {
    let lines = WebhookLines(.publicInternet(besides: settings.allowed))
    self.init(spike: settings.spike) { webhook, request, timeout in
      do throws(HTTPClient.Fault) {
        let answer = try await lines.line(webhook).call(
          "POST", request.url, headers: request.headers, body: request.body, timeout: timeout)
        return .success(answer.status)
      } catch {
        return .failure(Fault(error.what))
      }
    }
  }
}

private final class WebhookLines: Sendable {
  private let reach: HTTPClient.Reach
  private let lines = Locked<[Int64: HTTPClient]>([:])

  /// Of what a receiver says only its status counts.
  private static let bodyLimit = 4096

  init(_ reach: HTTPClient.Reach) { self.reach = reach }

  func line(_ webhook: Int64) -> HTTPClient {
    lines.withLock { lines in
      if let line = lines[webhook] { return line }
      if lines.count >= 1000 { lines.removeAll() }  // of webhooks that are gone, most of them
      let line = HTTPClient(reach, bodyLimit: Self.bodyLimit)
      lines[webhook] = line
      return line
    }
  }
}
