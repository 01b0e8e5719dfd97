import Basics
import PushPayload
import Testing
import Transport

@testable import APNSSimulator

private let start = Instant(seconds: 1_796_000_000)

@Suite("What a connection proves about its provider")
struct ConnectionTrustTests {
  /// A connection and the keys that Apple's side knows.
  struct Scene {
    var trust: ConnectionTrust
    let directory: ProviderDirectory
    var rules = ConnectionTrust.Rules()

    init(_ providers: TestProvider..., certificate: ProviderCertificate? = nil) {
      trust = ConnectionTrust(certificate.map { .certificate($0) } ?? .none)
      directory = ProviderDirectory(keys: providers.map(\.key))
    }

    /// nil when taken.
    mutating func send(
      _ token: String?, at time: Instant = start, to environment: SimulatedEnvironment = .sandbox
    ) -> Refusal? {
      let header = token.map { Array("bearer \($0)".utf8)[...] }
      do {
        _ = try trust.authenticate(
          header, environment: environment, now: time, rules: rules, directory: directory)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test("both signature forms are taken", arguments: TestProvider.SignatureForm.allCases)
  func signatureForms(form: TestProvider.SignatureForm) throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    #expect(!scene.trust.isProven)
    #expect(scene.send(provider.token(issuedAt: start, form: form)) == nil)
    #expect(scene.trust.isProven)
  }

  @Test(
    "iat as integer, fraction and string of digits; extra claims and padding do no harm",
    arguments: ["1796000000", "1796000000.25", "1.796e9", "\"1796000000\"", "\"1796000000.5\""])
  func issueTimes(literal: String) throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    let token = provider.token(
      header: #"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#,
      claims: #"{"iss":"DEF123GHIJ","iat":\#(literal),"kid":"ABC123DEFG","exp":1}"#)
    #expect(scene.send(token) == nil)
    var padded = Scene(provider)
    #expect(padded.send(token + "==") == nil)
  }

  @Test(
    "tokens that are not to be believed",
    arguments: [
      (#"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000}"#, "HS256"),
      (#"{"kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000}"#, "\"alg\""),
      (#"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000}"#, "none"),
      (#"{"alg":"ES256"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000}"#, "\"kid\""),
      (#"{"alg":"ES256","kid":"ZZZZZZZZZZ"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000}"#, "ZZZZZZZZZZ"),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"OTHERTEAM0","iat":1796000000}"#, "OTHERTEAM0"),
      (#"{"alg":"ES256","kid":"DEF123GHIJ"}"#, #"{"iss":"ABC123DEFG","iat":1796000000}"#, "DEF123GHIJ"),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iat":1796000000}"#, "\"iss\""),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ"}"#, "\"iat\""),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"soon"}"#, "\"iat\""),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":true}"#, "\"iat\""),
      (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1796000000000}"#, "seconds"),
      ("[]", "{}", "object"), ("x", "{}", "JSON"),
    ])
  func invalidTokens(header: String, claims: String, words: String) throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    let refusal = scene.send(provider.token(header: header, claims: claims))
    #expect(refusal?.reason == .invalidProviderToken)
    #expect(refusal?.explanation.contains(words) == true, "\(refusal?.explanation ?? "")")
    #expect(!scene.trust.isProven)
  }

  @Test("another key's signature, a changed claim, garbage")
  func forged() throws {
    let provider = try TestProvider()
    let stranger = try TestProvider()
    var scene = Scene(provider)
    #expect(scene.send(stranger.token(issuedAt: start))?.reason == .invalidProviderToken)
    let parts = provider.token(issuedAt: start).split(separator: ".")
    let other = provider.token(issuedAt: start + .seconds(1)).split(separator: ".")
    #expect(scene.send("\(parts[0]).\(other[1]).\(parts[2])")?.reason == .invalidProviderToken)
    for text in ["", ".", "..", "a.b.c", "a.b.c.d", "é.é.é", String(repeating: ".", count: 200)] {
      #expect([.invalidProviderToken, .missingProviderToken].contains(scene.send(text)?.reason))
    }
  }

  @Test("C27 older than an hour is expired, ahead of the clock is refused; a token taken once grows old too")
  func ages() throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    #expect(scene.send(provider.token(issuedAt: start - .minutes(60))) == nil)
    var second = Scene(provider)
    #expect(second.send(provider.token(issuedAt: start - .minutes(60) - .seconds(1)))?.reason == .expiredProviderToken)
    #expect(second.send(provider.token(issuedAt: start + .minutes(5))) == nil)
    var third = Scene(provider)
    #expect(third.send(provider.token(issuedAt: start + .minutes(6)))?.reason == .invalidProviderToken)
    var fourth = Scene(provider)
    let token = provider.token(issuedAt: start)
    #expect(fourth.send(token) == nil)
    #expect(fourth.send(token, at: start + .minutes(60)) == nil)
    #expect(fourth.send(token, at: start + .minutes(60) + .seconds(1))?.reason == .expiredProviderToken)
  }

  @Test("C27 another token within 20 minutes is one too many, on this connection only")
  func updates() throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    let first = provider.token(issuedAt: start)
    #expect(scene.send(first) == nil)
    #expect(
      scene.send(provider.token(issuedAt: start + .minutes(10)), at: start + .minutes(10))?.reason
        == .tooManyProviderTokenUpdates)
    #expect(scene.send(first, at: start + .minutes(11)) == nil)
    #expect(scene.send(provider.token(issuedAt: start + .minutes(20)), at: start + .minutes(20)) == nil)
    #expect(
      scene.send(provider.token(issuedAt: start + .minutes(39)), at: start + .minutes(39))?.reason
        == .tooManyProviderTokenUpdates)
    var other = Scene(provider)
    #expect(other.send(provider.token(issuedAt: start + .minutes(39)), at: start + .minutes(39)) == nil)
  }

  @Test("the first valid token binds a connection to its team and family of keys")
  func binding() throws {
    let first = try TestProvider(keyID: "KEY0000001", teamID: "TEAM000001")
    let sameTeam = try TestProvider(keyID: "KEY0000002", teamID: "TEAM000001")
    let otherTeam = try TestProvider(keyID: "KEY0000003", teamID: "TEAM000002")
    let narrow = try TestProvider(
      keyID: "KEY0000004", teamID: "TEAM000001", scope: .topics(["com.example.app"], .sandbox, family: "a"))
    let relative = try TestProvider(
      keyID: "KEY0000005", teamID: "TEAM000001", scope: .topics(["com.example.app"], .sandbox, family: "a"))
    let stranger = try TestProvider(
      keyID: "KEY0000006", teamID: "TEAM000001", scope: .topics(["com.example.app"], .sandbox, family: "b"))
    let later = start + .minutes(20)
    for (provider, next, reason) in [
      (first, sameTeam, nil), (first, otherTeam, .invalidProviderToken), (first, narrow, .unrelatedKeyIDInToken),
      (narrow, relative, nil), (narrow, stranger, .unrelatedKeyIDInToken), (narrow, first, .unrelatedKeyIDInToken),
    ] as [(TestProvider, TestProvider, RefusalReason?)] {
      var scene = Scene(first, sameTeam, otherTeam, narrow, relative, stranger)
      #expect(scene.send(provider.token(issuedAt: start)) == nil)
      #expect(scene.send(next.token(issuedAt: later), at: later)?.reason == reason)
    }
  }

  @Test(
    "§6 an expired token spoils the connection where that is set, else a fresh one mends it", arguments: [true, false])
  func wedge(isWedged: Bool) throws {
    let provider = try TestProvider()
    var scene = Scene(provider)
    scene.rules.isWedgedByExpiry = isWedged
    #expect(scene.send(provider.token(issuedAt: start)) == nil)
    let later = start + .minutes(61)
    #expect(scene.send(provider.token(issuedAt: start), at: later)?.reason == .expiredProviderToken)
    let fresh = scene.send(provider.token(issuedAt: later), at: later)
    #expect(fresh?.reason == (isWedged ? .expiredProviderToken : nil))
    #expect(fresh?.explanation.contains("open a new one") == (isWedged ? true : nil))
    var other = Scene(provider)
    other.rules.isWedgedByExpiry = isWedged
    #expect(other.send(provider.token(issuedAt: later), at: later) == nil)
  }

  @Test("a suspended team is forbidden everything, on open connections and by certificate too, until it is restored")
  func suspension() throws {
    let provider = try TestProvider()
    var byToken = Scene(provider)
    var byCertificate = Scene(
      certificate: ProviderCertificate(
        userID: "com.example.app", environments: [.sandbox], topics: [], notBefore: start, notAfter: start + .days(1),
        teamID: provider.key.teamID))
    let token = provider.token(issuedAt: start)
    for isSuspended in [false, true, false] {
      var fresh = Scene(provider)
      for directory in [byToken.directory, byCertificate.directory, fresh.directory] {
        directory.setSuspended(team: provider.key.teamID, isSuspended)
      }
      let expected: RefusalReason? = isSuspended ? .forbidden : nil
      #expect(byToken.send(token)?.reason == expected)
      #expect(byCertificate.send(nil)?.reason == expected)
      #expect(fresh.send(token)?.reason == expected && fresh.trust.isProven == !isSuspended)
    }
  }

  @Test("a key of one environment is refused in the other, in either spelling")
  func keyEnvironment() throws {
    let provider = try TestProvider(scope: .team(only: .production))
    var scene = Scene(provider)
    let answer = scene.send(provider.token(issuedAt: start))
    let refusal = try #require(answer)
    #expect(refusal.reason == .badEnvironmentKeyInToken && refusal.reason.status == 403)
    #expect(String(decoding: refusal.body(), as: UTF8.self) == #"{"reason":"BadEnvironmentKeyInToken"}"#)
    let documented = String(decoding: refusal.body(spelling: .documented), as: UTF8.self)
    #expect(documented == #"{"reason":"BadEnvironmentKeyIdInToken"}"#)
    #expect(scene.send(provider.token(issuedAt: start), to: .production) == nil)
  }

  @Test("a certificate: its environments, its dates, its topics; authorization is ignored")
  func certificates() {
    func certificate(
      uid: String = "com.example.app", _ environments: Set<SimulatedEnvironment> = [.sandbox], topics: [String] = []
    ) -> ProviderCertificate {
      ProviderCertificate(
        userID: uid, environments: environments, topics: topics, notBefore: start - .days(1),
        notAfter: start + .days(364))
    }
    var scene = Scene(certificate: certificate())
    #expect(scene.trust.isProven)
    #expect(scene.send(nil) == nil)
    #expect(scene.send("garbage") == nil)
    #expect(scene.send(nil, to: .production)?.reason == .badCertificateEnvironment)
    #expect(scene.send(nil, at: start + .days(364))?.reason == .badCertificate)
    #expect(scene.send(nil, at: start - .days(2))?.reason == .badCertificate)
    var nameless = Scene(certificate: certificate(uid: ""))
    #expect(nameless.send(nil)?.reason == .badCertificate)
  }

  @Test("the topic list of a certificate survives its DER; other bytes are no list")
  func topicLists() {
    let long = "com.example." + String(repeating: "a", count: 300)
    let der = CertificateTopics.encoded([
      ("com.example.app", ["app"]), ("com.example.app.voip", ["voip"]), (long, ["app", "x"]),
    ])
    #expect(CertificateTopics.topics(in: der) == ["com.example.app", "com.example.app.voip", long])
    for cut in 0..<der.count { _ = CertificateTopics.topics(in: Array(der.prefix(cut))) }
    #expect(CertificateTopics.topics(in: [0x05, 0x00]).isEmpty)
    #expect(CertificateTopics.topics(in: []).isEmpty)
  }
}
