import APNSClient
import APNSSimulator
import Audience
import Basics
import BelfryTesting
import PushPayload
import Testing

@testable import Transport
@testable import belfry

@Suite("belfry doctor names what stands in the way, and what APNs answers", .timeLimit(.minutes(2)))
struct DoctorPitfallTests {
  typealias Scene = DoctorTests.Scene

  // MARK: Proxies

  @Test("the configured proxy is the doctor's too, and brings it to both of Apple's services")
  func configuredProxy() async throws {
    let scene = try await Scene { $0.proxy = Endpoint(host: "127.0.0.1", port: 0) }
    let endpoint = try #require(scene.simulator.proxyEndpoint)
    var doctor = try scene.key(settings: #"apns: "production", proxy: "http://\#(endpoint)", "#)
    doctor.server = nil
    let report = try await scene.report(doctor)
    for name in ["sandbox", "production"] {
      #expect(
        report.checks.contains { $0.level == .ok && $0.subject == "\(name) through the proxy \(endpoint)" },
        "\(report.text)")
    }
    #expect(report.worst == .ok, "\(report.text)")
    await scene.stop()
  }

  @Test(
    "a proxy that wants a password, forbids the place, does not reach it, is none, or is silent",
    arguments: [
      ("HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=x\r\n\r\n", "user and password"),
      ("HTTP/1.1 403 Forbidden\r\n\r\n", "forbids"), ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "503"),
      ("SSH-2.0-x\r\n", "SSH-2.0"), ("", "Check the proxy"),
    ])
  func badProxy(says: String, words: String) async throws {
    let scene = try await Scene()
    let loops = LoopGroup(count: 1)
    let listener = try await StreamListener.bind(
      Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: nil, limits: StreamLimits()
    ) { Saying($0, says) }
    var doctor = try scene.key(settings: #"proxy: "http://\#(listener.endpoint)", "#)
    doctor.server = .production
    doctor.timeout = says.isEmpty ? .milliseconds(300) : .seconds(15)
    let report = try await scene.report(doctor)
    DoctorTests.expect(report, .fail, .connection, words)
    #expect(report.checks.contains { $0.subject == "production through the proxy \(listener.endpoint)" })
    await listener.close()
    await loops.stop()
    await scene.stop()
  }

  @Test("a proxy where nobody listens is told apart from an APNs where nobody does")
  func deadProxy() async throws {
    let scene = try await Scene()
    var doctor = try scene.key(settings: #"proxy: "socks5://127.0.0.1:1", "#)
    doctor.server = .production
    let report = try await scene.report(doctor)
    DoctorTests.expect(report, .fail, .connection, "the proxy itself is not reached: nobody listens")
    DoctorTests.expect(report, .fail, .connection, "BELFRY_PROXY")
    await scene.stop()
  }

  private final class Saying: StreamHandler {
    private let stream: StreamConnection
    private let text: String

    init(_ stream: StreamConnection, _ text: String) {
      self.stream = stream
      self.text = text
    }

    func opened(_ stream: StreamConnection) {}
    func received(_ bytes: UnsafeRawBufferPointer) {
      guard !text.isEmpty else { return }
      Array(text.utf8).withUnsafeBytes { _ = stream.write($0) }
      stream.close()
    }
    func writable() {}
    func receivedEnd() { stream.close() }
    func timeCheck(now: Int64) -> Int64 { .max }
    func closed(_ fault: TransportFault) {}
  }

  // MARK: Answers

  /// A server that gives one answer to whatever comes.
  private struct Peer {
    enum Conduct: Sendable {
      case answers(Int, String, date: String? = nil)
      case goesAway(String)
    }

    let listener: HTTP2Listener
    let loops = LoopGroup(count: 1)

    init(_ scene: Scene, _ conduct: Conduct) async throws {
      listener = try await HTTP2Listener.bind(
        Endpoint(host: "127.0.0.1", port: 0), loops: loops, tls: TLSServerContext(identity: scene.serverIdentity()),
        settings: .server
      ) { Handler($0, conduct) }
    }

    func stop() async {
      await listener.stop(grace: .milliseconds(10))
      await loops.stop()
    }

    private final class Handler: HTTP2ServerHandler {
      private let connection: HTTP2ServerConnection
      private let conduct: Conduct

      init(_ connection: HTTP2ServerConnection, _ conduct: Conduct) {
        self.connection = connection
        self.conduct = conduct
      }

      func request(_ request: HTTP2Request, stream: Int32) {
        switch conduct {
        case .answers(let status, let body, let date):
          let fields = date.map { [HTTP2Field("date", $0)] } ?? []
          connection.respond(stream: stream, status: status, fields: fields, body: Array(body.utf8))
        case .goesAway(let text):
          connection.goAway(lastStream: 0, code: .noError, debugData: Array(text.utf8))
          connection.close(graceful: true)
        }
      }
      func streamClosed(_ stream: Int32, code: HTTP2ErrorCode) {}
      func closed(_ fault: TransportFault) {}
    }
  }

  private func report(_ conduct: Peer.Conduct, clock: VirtualClock? = nil) async throws -> DoctorReport {
    let scene = try await Scene()
    let peer = try await Peer(scene, conduct)
    var doctor = try scene.key()
    doctor.server = APNSServer(peer.listener.endpoint)
    if let clock { doctor.clock = clock }
    let report = try await scene.report(doctor)
    await peer.stop()
    await scene.stop()
    return report
  }

  @Test(
    "§8.2, §17 every reason of APNs is named, with what to do; a 403 fails",
    arguments: RefusalReason.allCases.filter(\.isOfDevicePushes))
  func reasons(reason: RefusalReason) async throws {
    let report = try await report(.answers(reason.status, #"{"reason":"\#(reason.rawValue)"}"#))
    switch reason {
    case .badDeviceToken, .unregistered, .expiredToken:
      DoctorTests.expect(report, .ok, .credential, reason.rawValue)
    case .expiredProviderToken:
      DoctorTests.expect(report, .fail, .clock, "calls a new provider token too old")
    default:
      let check = try #require(report.checks.first { $0.found.contains(reason.rawValue) }, "\(report.text)")
      #expect(check.level == .fail || (check.level == .warn && reason.status != 403), "\(report.text)")
      #expect(check.remedy?.hasSuffix(".") == true)
    }
  }

  @Test("§17 the reason of a GOAWAY is not lost: APNs says so why it does not take a certificate")
  func goAway() async throws {
    let report = try await report(.goesAway(#"{"reason":"BadCertificateEnvironment"}"#))
    DoctorTests.expect(report, .fail, .environment, "BadCertificateEnvironment")
  }

  @Test("C27 the date of an answer, by whoever added it, tells a clock that is off", arguments: [-3600, 0, 3600])
  func date(seconds: Int64) async throws {
    let date = Instant(seconds: 784_111_777)
    let report = try await report(
      .answers(400, #"{"reason":"BadDeviceToken"}"#, date: "Sun, 06 Nov 1994 08:49:37 GMT"),
      clock: VirtualClock(now: date + .seconds(seconds)))
    switch seconds {
    case 0: DoctorTests.expect(report, .ok, .clock, "within two minutes")
    default: DoctorTests.expect(report, .fail, .clock, seconds < 0 ? "60 minutes behind" : "60 minutes ahead of")
    }
  }

  @Test("an answer that is none of APNs: HTML, and no reason at all", arguments: ["<html>", ""])
  func html(body: String) async throws {
    let report = try await report(.answers(403, body))
    #expect(report.worst == .warn, "\(report.text)")
    DoctorTests.expect(report, .warn, .credential, "Check what stands between")
  }

  // MARK: Tokens and settings

  @Test("C37 a token that is alive in one environment is said to be of that one, and refused in the other")
  func otherEnvironment() async throws {
    let scene = try await Scene { $0.proxy = Endpoint(host: "127.0.0.1", port: 0) }
    let endpoint = try #require(scene.simulator.proxyEndpoint)
    let token = scene.simulator.issueToken(device: "phone", bundle: DoctorTests.bundle, environment: .production)
    var doctor = try scene.key(settings: #"apns: "production", proxy: "http://\#(endpoint)", "#)
    doctor.server = nil
    doctor.token = token.hex
    let both = try await scene.report(doctor)
    DoctorTests.expect(both, .ok, .token, "a token of production: send it there and nowhere else")
    DoctorTests.expect(both, .ok, .token, "refused (sandbox: BadDeviceToken)")
    doctor.server = .sandbox
    let wrong = try await scene.report(doctor)
    DoctorTests.expect(wrong, .fail, .token, "sandbox: BadDeviceToken")
    DoctorTests.expect(wrong, .fail, .token, "try the other by --apns")
    await scene.stop()
  }

  @Test("§17 a bundle id with a push type's suffix, which the client adds itself")
  func suffix() async throws {
    let scene = try await Scene()
    let report = try await scene.report(try scene.key(bundle: DoctorTests.bundle + ".voip"))
    DoctorTests.expect(report, .fail, .topic, "ends with .voip")
    await scene.stop()
  }

  @Test("a data folder without a database gets none by being looked at")
  func makesNothing() async throws {
    let scene = try await Scene()
    let folder = scene.folder + "/data"
    try Files.makeFolder(folder)
    var parsed = ParsedCommand()
    parsed.values["data"] = [folder]
    let configuration = try ServeConfiguration(parsed, environment: [:], standardData: scene.folder + "/none")
    let report = DoctorReport(checks: await Doctor(configuration).run())
    #expect(report.worst == .ok, "\(report.text)")
    #expect(Files.stamp(folder + "/belfry.db") == nil && Files.stamp(folder + "/lock") == nil)
    #expect(Files.stamp(scene.folder + "/none") == nil)
    await scene.stop()
  }
}
