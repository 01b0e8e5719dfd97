internal import Audience
internal import Basics
internal import Delivery
public import PushPayload
public import PushService
internal import Transport

/// What an app's pushes authenticate to APNs with. A secret goes in and never comes out.
extension HTTPAPI {
  /// `GET /v1/credentials`.
  func listCredentials(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let list = try await service.credentials(app, after: try page.numberOfCursor() ?? 0, limit: page.limit + 1)
    return page.answer("credentials", list, cursor: { String($0.id) }, write: Self.object)
  }

  /// `POST /v1/credentials`: 201, or 200 for one that the app has already.
  func addCredential(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (upload, environment) = try CredentialReading.read(call.request.body)
    let (credential, isNew) = try await service.addCredential(app, upload, environment: environment)
    var answer = Self.answer(credential, status: isNew ? 201 : 200)
    answer.headers["Location"] = "/v1/credentials/\(credential.id)"
    return answer
  }

  /// `GET /v1/credentials/{id}`.
  func showCredential(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    return Self.answer(try await service.credential(app, id: try Self.number(of: "credential", id)))
  }

  /// `PUT /v1/credentials/{id}`: another one in its place; with `If-Match` only while it is what was read.
  func rotateCredential(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (upload, environment) = try CredentialReading.read(call.request.body)
    let version = try call.ifMatch().map { Int64(clamping: $0) }
    return Self.answer(
      try await service.rotateCredential(
        app, id: try Self.number(of: "credential", id), upload, environment: environment, ifVersion: version))
  }

  /// `DELETE /v1/credentials/{id}`.
  func deleteCredential(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteCredential(app, id: try Self.number(of: "credential", id))
    return Answers.noContent
  }

  private static func answer(_ credential: CredentialView, status: Int = 200) -> HTTPResponse {
    Answers.json(status, .object(object(credential))).tagged(UInt64(credential.version))
  }

  /// A credential as `/v1` and `belfry credentials` show it.
  public static func object(_ credential: CredentialView) -> JSONObject {
    let facts = credential.facts
    return [
      "id": .string(String(credential.id)), "kind": facts.isKey ? "key" : "certificate",
      "keyId": facts.keyID.map(JSONValue.string) ?? .null, "teamId": facts.teamID.map(JSONValue.string) ?? .null,
      "topics": .array(facts.topics.map(JSONValue.string)),
      "environments": .array(credential.environments.map { .string("\($0)") }),
      "expiresAt": facts.notAfter.map { .string($0.description) } ?? .null,
      "fingerprint": .string(facts.fingerprint), "name": .string(credential.name),
      "createdAt": .string(credential.createdAt.description), "uploadedAt": .string(credential.uploadedAt.description),
      "warnings": .array(credential.warnings.map(JSONValue.string)),
    ]
  }

  // MARK: JPush's Admin API

  /// `POST /v1/app/{app_key}/certificate` (jpush.md §9): a form with a certificate for the sandbox, production, or both, each
  /// in the place of the one before. What is refused for its content comes with 200.
  func uploadCertificates(_ key: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    _ = try await authenticateDeveloper(&call)
    guard let form = MultipartForm(call.request.body, contentType: call.request.headers["Content-Type"]) else {
      throw RequestFault(
        .invalidParameter, found: "the body is no multipart/form-data",
        remedy: "Send a form with devCertificateFile, proCertificateFile, or both.")
    }
    guard let app = try await service.app(key: key) else {
      return Self.failed(1013, "the appkey \(quoted(key)) is not valid: there is no such app")
    }
    var uploads: [(upload: CredentialUpload, environment: APNSEnvironment)] = []
    for (name, environment) in [("dev", .sandbox), ("pro", .production)] as [(String, APNSEnvironment)] {
      guard let file = form["\(name)CertificateFile"], !file.content.isEmpty else { continue }
      let password = form.text("\(name)CertificatePassword") ?? ""
      let fileName = file.fileName.flatMap { $0.isEmpty ? nil : $0 } ?? "\(name)CertificateFile"
      uploads.append(
        (CredentialUpload(.certificate(Array(file.content), password: password), name: fileName), environment))
    }
    guard !uploads.isEmpty else {
      return Self.failed(1014, "no certificate file: send devCertificateFile, proCertificateFile, or both")
    }
    var isNews = false
    do throws(RequestFault) {
      for (upload, environment) in uploads { try service.checkCredential(app, upload, environment: environment) }
      for (upload, environment) in uploads {
        if try await service.putCertificate(app, upload, for: environment) { isNews = true }
      }
    } catch {
      if error.code == .conflict { return Self.failed(1010, "certificate exists: \(error)") }
      if error.code == .invalidParameter { return Self.failed(1012, "certificate invalid: \(error)") }
      throw error
    }
    guard isNews else { return Self.failed(1010, "certificate exists: the app has what was sent already") }
    return Answers.ok(["success": "Synchronized success"])
  }

  private static func failed(_ code: Int, _ message: String) -> HTTPResponse {
    Answers.ok(["error": Answers.error(code: code, message: message)])
  }
}

/// Reads `{"key", "keyId", "teamId"}` or `{"certificate", "password"}`, each with `environment` and `name`.
enum CredentialReading {
  /// Of a file; those of Apple's have a tenth of it.
  private static let largest = 64 << 10

  static func read(
    _ body: [UInt8]
  ) throws(RequestFault) -> (upload: CredentialUpload, environment: APNSEnvironment?) {
    let fields = try RequestBody.object(body, codes: .push)
    let proof: CredentialUpload.Proof
    if let field = fields["key"] {
      try fields.refuseUnknown(besides: ["key", "keyId", "teamId", "environment", "name"])
      guard let keyID = fields["keyId"] else { throw fields.missing("keyId", "Give the key's id, 10 characters.") }
      guard let teamID = fields["teamId"] else { throw fields.missing("teamId", "Give the team's id, 10 characters.") }
      let text = try checked(field, Array(try field.string().utf8))
      proof = .key(text, keyID: try keyID.string(), teamID: try teamID.string())
    } else {
      try fields.refuseUnknown(besides: ["certificate", "password", "environment", "name"])
      guard let field = fields["certificate"] else {
        throw fields.missing("key", "Give a key, or a certificate, as docs/credentials.md says.")
      }
      let text = try field.string()
      let isText = text.contains("-----BEGIN")
      guard let content = isText ? Array(text.utf8) : bytes(fromBase64: text.utf8.filter { !isBreak($0) }) else {
        throw field.wrong(
          "this is neither Base64 nor PEM text", "Send the .p12 file in Base64, or the text of a .pem file.")
      }
      proof = .certificate(try checked(field, content), password: try fields["password"]?.string() ?? "")
    }
    let environment = try fields["environment"]?.word(outOf: ["sandbox", "production"])
    let name = try fields["name"]?.string()
    return (
      CredentialUpload(proof, name: name ?? proof.usualName),
      environment.map { $0 == "sandbox" ? .sandbox : .production }
    )
  }

  private static func checked(_ field: Field, _ bytes: [UInt8]) throws(RequestFault) -> [UInt8] {
    guard bytes.count <= largest else {
      throw field.wrong("\(bytes.count) bytes stand here", "Send the key or certificate alone.")
    }
    return bytes
  }

  private static func isBreak(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}

extension CredentialUpload.Proof {
  fileprivate var usualName: String {
    switch self {
    case .key(_, let keyID, _): "AuthKey_\(keyID).p8"
    case .certificate: "certificate"
    }
  }
}
