import Basics
import Foundation
import HTTPClient
import Testing

@Suite("belfry explain")
struct ExplainProcessTests {
  @Test("tells what the service, APNs and the phone did, while the demo runs and from its folder afterwards")
  func demo() async throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data"
    let demo = try BelfryProcess(["serve", "--demo", "--listen", "127.0.0.1:0", "--data", data])
    let places = try await demo.event("ready")
    let variables = try String(contentsOfFile: try #require(places["variables"]), encoding: .utf8)
    func value(_ name: String) throws -> String {
      let line = try #require(variables.split(separator: "\n").first { $0.hasPrefix("export \(name)='") })
      return String(line.dropFirst("export \(name)='".count).dropLast())
    }
    let (api, key, secret) = (try value("API"), try value("APP_KEY"), try value("MASTER_SECRET"))
    let device = try value("REGISTRATION_ID")
    let client = HTTPClient()
    func call(_ method: String, _ path: String, _ body: String? = nil) async throws -> [String: Any] {
      let answer = try await client.call(
        method, api + path, headers: ["Content-Type": "application/json"], basic: (key, secret),
        body: body.map { [UInt8]($0.utf8) })
      return (try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]) ?? [:]
    }
    _ = try await call("POST", "/v3/devices/\(device)", #"{"alias": "lin"}"#)
    let push = try await call(
      "POST", "/v3/push",
      #"{"platform":["ios"],"audience":{"alias":["lin"]},"notification":{"ios":{"alert":"Hello","badge":"+1"}}}"#)
    let message = try #require(push["msg_id"] as? String, "\(push)")
    let asked = ["explain", message, "alias:lin", "--server", api, "--app", "\(key):\(secret)"]
    var told = try await BelfryProcess.run(asked)
    for _ in 0..<200 where !told.output.contains("shows ") {
      try await Task.sleep(for: .milliseconds(20))
      told = try await BelfryProcess.run(asked)
    }
    #expect(told.status == 0, "\(told.errors)")
    #expect(told.output.hasPrefix("push \(message), device \(device): accepted\n"))
    let order = ["was accepted", "in the audience", "APNs accepted it", "delivered to the phone", "shows "]
    for words in order { #expect(told.output.contains(words), "\(words) is not in\n\(told.output)") }
    demo.signal(SIGTERM)
    #expect(try await demo.end() == 0)

    let later = try await BelfryProcess.run(["explain", message, device, "--data", data])
    #expect(later.status == 0 && later.output.contains("APNs accepted it"), "\(later.errors)")
    #expect(!later.output.contains("shows "), "what the phone did is not kept")
    let unknown = try await BelfryProcess.run(["explain", message, "alias:nobody", "--data", data])
    #expect(unknown.status == 1 && unknown.errors == "belfry: nobody has the alias 'nobody'\n")
    let mistyped = try await BelfryProcess.run(["explain", "x", device, "--data", data])
    #expect(mistyped.status == 2)
  }
}
