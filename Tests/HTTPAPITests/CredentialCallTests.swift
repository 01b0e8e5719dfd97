import Audience
import Basics
import BelfryTesting
import Delivery
import Foundation
import PushPayload
import PushService
import Testing
import Transport

@testable import HTTPAPI

@Suite("Credentials over /v1", .timeLimit(.minutes(1)))
struct CredentialCallTests {
  private static func body(_ key: P256PrivateKey, _ more: JSONObject = [:]) -> String {
    let object: JSONObject = [
      "key": .string(String(decoding: key.pem, as: UTF8.self)), "keyId": "ABC123DEFG", "teamId": "DEF123GHIJ",
    ]
    return JSONValue.object(JSONObject(object.members + more.members)).text
  }

  static func certificate(_ bench: Bench, marks: [CertificateExtension]) throws -> TLSIdentity {
    let now = bench.clock.now
    let authority = try CertificateAuthority.create(
      commonName: "Test CA", notBefore: now - .days(1), notAfter: now + .days(3650))
    return try authority.issueClient(
      commonName: "Apple Push Services: com.example.chat", userID: "com.example.chat", extensions: marks,
      notBefore: now - .days(1), notAfter: now + .days(364))
  }

  @Test(
    "a key goes in and never comes out; it is listed, rotated under its ETag, and removed", arguments: Depth.allCases)
  func life(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let (first, second) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
      let added = try await bench.call("POST", "/v1/credentials", Self.body(first))
      let object = try #require(added.json.object, "\(added.text)")
      #expect(added.status == 201 && added.headers["location"] == "/v1/credentials/1")
      #expect(object["kind"] == "key" && object["keyId"] == "ABC123DEFG" && object["expiresAt"] == .null)
      #expect(object["environments"] == ["sandbox", "production"] && object["name"] == "AuthKey_ABC123DEFG.p8")
      #expect(object["fingerprint"] == .string(first.publicKey.fingerprint))
      let again = try await bench.call("POST", "/v1/credentials", Self.body(first))
      #expect(again.status == 200 && again.headers["location"] == "/v1/credentials/1")
      let conflict = try await bench.call("POST", "/v1/credentials", Self.body(second))
      #expect(conflict.status == 409 && conflict.errorCode == 9409, "\(conflict.text)")
      let shown = try await bench.call("GET", "/v1/credentials/1")
      let tag = try #require(shown.headers["etag"])
      let rotated = try await bench.call("PUT", "/v1/credentials/1", headers: ["If-Match": tag], Self.body(second))
      #expect(rotated.status == 200, "\(rotated.text)")
      #expect(rotated.json.object?["fingerprint"] == .string(second.publicKey.fingerprint))
      let late = try await bench.call("PUT", "/v1/credentials/1", headers: ["If-Match": tag], Self.body(first))
      #expect(late.status == 412 && late.errorCode == 9412)
      let list = try await bench.call("GET", "/v1/credentials?limit=1")
      #expect(list.json.object?["credentials"]?.array?.count == 1 && list.json.object?["next"] == .null)
      for reply in [added, again, shown, rotated, list] {
        #expect(!reply.text.contains("PRIVATE KEY") && !reply.text.contains("secret"))
      }
      #expect(try await bench.call("DELETE", "/v1/credentials/1").status == 204)
      for id in ["1", "0", "-1", "x"] {
        let gone = try await bench.call("GET", "/v1/credentials/\(id)")
        #expect(gone.status == 404 && gone.errorCode == 9404)
      }
    }
  }

  @Test("C28 a .p12 comes in Base64, in lines or not, or as PEM text")
  func certificates() async throws {
    try await Bench.with(.inProcess) { bench in
      let identity = try Self.certificate(bench, marks: [.appleSandboxPush, .appleProductionPush])
      let base64 = Data(try identity.pkcs12(password: "pässwörd")).base64EncodedString(options: .lineLength76Characters)
      for (number, text) in [base64, base64.filter { !$0.isNewline }, String(decoding: identity.pem, as: UTF8.self)]
        .enumerated()
      {
        let body: JSONValue = ["certificate": .string(text), "password": "pässwörd", "environment": "production"]
        let reply = try await bench.call("POST", "/v1/credentials", body.text)
        #expect(reply.status == (number == 0 ? 201 : 200), "\(reply.text)")
        #expect(reply.json.object?["topics"] == ["com.example.chat"])
        #expect(reply.json.object?["environments"] == ["production"])
        #expect(reply.json.object?["expiresAt"]?.string == (bench.clock.now + .days(364)).description)
      }
    }
  }

  @Test("C26 what cannot be used is refused with place and reason, and nothing of it is told back")
  func refusals() async throws {
    try await Bench.with(.inProcess) { bench in
      let key = try P256PrivateKey.generate()
      let sandbox = try Self.certificate(bench, marks: [.appleSandboxPush])
      let base64 = Data(try sandbox.pkcs12(password: "secret")).base64EncodedString()
      let rows: [(JSONValue, place: String, code: Int, words: String)] = [
        (["key": "milk", "keyId": "ABC123DEFG", "teamId": "DEF123GHIJ"], "key", 1003, "no PEM text"),
        (["key": "milk", "teamId": "DEF123GHIJ"], "keyId", 1002, "missing"),
        (["key": "milk", "keyId": "ABC123DEFG"], "teamId", 1002, "missing"),
        ([:], "key", 1002, "missing"), (["certificate": "%"], "certificate", 1003, "neither Base64 nor PEM"),
        (["certificate": .string(base64), "password": "no"], "certificate", 1003, "password does not open"),
        (
          ["certificate": .string(base64), "password": "secret", "environment": "production"], "environment", 1003,
          "not for production"
        ),
        (["certificate": .string(base64), "keyId": "ABC123DEFG"], "keyId", 1009, "does not exist"),
        (["certificate": .string(base64), "environment": "test"], "environment", 1003, "none of its values"),
        (["certificate": .string(String(repeating: "A", count: 100_000))], "certificate", 1003, "75000 bytes"),
      ]
      for (body, place, code, words) in rows {
        let reply = try await bench.call("POST", "/v1/credentials", body.text)
        #expect(reply.status == 400 && reply.errorCode == code, "\(body.text.prefix(80)): \(reply.text)")
        #expect(reply.json.object?["place"] == .string(place) && reply.text.contains(words), "\(reply.text)")
        #expect(!reply.text.contains("secret"))
      }
      let swapped = Self.body(key, ["name": "AuthKey_DEF123GHIJ.p8"])
      #expect(try await bench.call("POST", "/v1/credentials", swapped).text.contains("are swapped"))
      #expect(try await bench.call("GET", "/v1/credentials").json.object?["credentials"] == [])
    }
  }

  // MARK: JPush's Admin API

  private static func form(_ parts: [(name: String, content: [UInt8])]) -> (headers: [String: String], body: String) {
    // in Latin-1, so that bytes pass through a string: the bench sends UTF-8, hence PEM text in these tests
    var body = ""
    for (name, content) in parts {
      let file = name.hasSuffix("File") ? "; filename=\"\(name).pem\"" : ""
      body += "--x\r\nContent-Disposition: form-data; name=\"\(name)\"\(file)\r\n\r\n"
      body += String(decoding: content, as: UTF8.self) + "\r\n"
    }
    return (["Content-Type": "multipart/form-data; boundary=x"], body + "--x--\r\n")
  }

  @Test(
    "§9 certificates for both environments come by a form; what is refused comes with 200", arguments: Depth.allCases)
  func admin(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let made = try await bench.service.createDeveloper(name: nil)
      let developer = Bench.Who.other(made.developer.key, made.secret)
      let path = "/v1/app/\(bench.app.appKey)/certificate"
      func upload(_ parts: [(String, [UInt8])], to path: String? = nil) async throws -> Bench.Reply {
        let (headers, body) = Self.form(parts)
        return try await bench.call(
          "POST", path ?? "/v1/app/\(bench.app.appKey)/certificate", as: developer, headers: headers, body)
      }
      let both = try Self.certificate(bench, marks: [.appleSandboxPush, .appleProductionPush])
      let sandbox = try Self.certificate(bench, marks: [.appleSandboxPush])
      let done = try await upload([
        ("devCertificateFile", sandbox.pem), ("devCertificatePassword", []), ("proCertificateFile", both.pem),
      ])
      #expect(done.status == 200 && done.text == "{\"success\":\"Synchronized success\"}", "\(done.text)")
      let kept = try await bench.call("GET", "/v1/credentials").json.object?["credentials"]?.array ?? []
      #expect(kept.map { $0.object?["environments"] } == [["sandbox"], ["production"]])
      #expect(kept.map { $0.object?["name"] } == ["devCertificateFile.pem", "proCertificateFile.pem"])

      let renewed = try Self.certificate(bench, marks: [.appleSandboxPush, .appleProductionPush])
      #expect(try await upload([("proCertificateFile", renewed.pem)]).text.contains("Synchronized success"))
      let now = try await bench.call("GET", "/v1/credentials").json.object?["credentials"]?.array ?? []
      #expect(now.count == 2 && now[1].object?["fingerprint"] == .string(renewed.certificate.fingerprint))

      let rows: [(Bench.Reply, Int)] = [
        (try await upload([("proCertificateFile", renewed.pem), ("devCertificateFile", sandbox.pem)]), 1010),
        (try await upload([("proCertificateFile", sandbox.pem)]), 1012),
        (try await upload([("devCertificateFile", Array("milk".utf8))]), 1012),
        (
          try await upload(
            [("proCertificateFile", both.pem)], to: "/v1/app/\(String(repeating: "0", count: 24))/certificate"), 1013
        ),
        (try await upload([("proCertificatePassword", Array("x".utf8))]), 1014),
      ]
      for (reply, code) in rows { #expect(reply.status == 200 && reply.errorCode == code, "\(code): \(reply.text)") }
      #expect(try await bench.call("POST", path, as: developer, "{}").status == 400)
      let app = try await bench.call("POST", path, "{}")
      #expect(app.status == 401 && app.errorCode == 4004)
      #expect(try await bench.call("GET", path, as: developer).errorCode == 4001)
    }
  }

  @Test("§9 a credential for both environments is not displaced by a certificate for one")
  func adminAndKey() async throws {
    try await Bench.with(.inProcess) { bench in
      let made = try await bench.service.createDeveloper(name: nil)
      #expect(try await bench.call("POST", "/v1/credentials", Self.body(try .generate())).status == 201)
      let (headers, body) = Self.form([
        ("proCertificateFile", try Self.certificate(bench, marks: [.appleProductionPush]).pem)
      ])
      let reply = try await bench.call(
        "POST", "/v1/app/\(bench.app.appKey)/certificate", as: .other(made.developer.key, made.secret),
        headers: headers, body)
      #expect(reply.status == 200 && reply.errorCode == 1010, "\(reply.text)")
    }
  }
}
