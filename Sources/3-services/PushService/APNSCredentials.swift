public import Audience
public import Basics
public import Delivery
import Store

/// A credential that an app has, without its secret, which is never told again.
public struct CredentialView: Sendable, Equatable {
  public var id: Int64
  public var facts: CredentialFacts
  public var environments: [APNSEnvironment]
  /// What its file was called.
  public var name: String
  public var createdAt: Instant
  /// When its secret came.
  public var uploadedAt: Instant
  /// Grows by each rotation, from 1.
  public var version: Int64
  /// What wants a look: an end that is near, and right after an upload what was strange about the file.
  public var warnings: [String]
}

/// A credential with its secret, for who sends.
public struct OpenCredential: Sendable {
  public var app: AppRecord
  public var view: CredentialView
  /// As `ReadCredential` has it. Secret.
  public var secret: [UInt8]
}

extension PushService {
  /// Keeps a credential of the app: from then on its pushes use it, before any of the service's own settings. `environment`
  /// nil: for all that it is good for. The same one again answers the one that is there (`isNew` false).
  ///
  /// 9409 when the app has another one for an environment.
  public func addCredential(
    _ app: AppRecord, _ upload: CredentialUpload, environment: APNSEnvironment?
  ) async throws(RequestFault) -> (credential: CredentialView, isNew: Bool) {
    let new = try read(upload, of: app, environment)
    try await checkSealing(besides: nil)
    let note = note(.credentialAdded, app, nil, Self.words(new.stored))
    switch try await faulting(as: .push, await store.addCredential(new.stored, audit: note)) {
    case .kept(let kept):
      onEvent(.credentialChanged(appKey: app.key, words: "\(Self.words(kept)) was added"))
      return (view(kept, new.warnings), true)
    case .occupied(let other) where Self.isSame(other, new.stored):
      return (view(other, new.warnings), false)
    case .occupied(let other): throw Self.occupied(by: other)
    case .changedMeanwhile: throw RequestFault(.internalError, found: "no place for it", remedy: "Report this.")
    }
  }

  /// Puts another one in a credential's place; pushes go over to it without a gap once APNs has taken it. `ifVersion` nil:
  /// whatever it is now.
  public func rotateCredential(
    _ app: AppRecord, id: Int64, _ upload: CredentialUpload, environment: APNSEnvironment?, ifVersion: Int64? = nil
  ) async throws(RequestFault) -> CredentialView {
    var new = try read(upload, of: app, environment)
    guard let old = try await faulting(as: .push, await store.credential(app: app.id, id: id)) else {
      throw Self.noSuch("credential", String(id))
    }
    try await checkSealing(besides: id)
    new.stored.id = id
    new.stored.version = ifVersion ?? old.version
    let note = note(.credentialRotated, app, String(id), "\(Self.words(new.stored)) for \(Self.words(old))")
    switch try await faulting(as: .push, await store.rotateCredential(new.stored, audit: note)) {
    case .kept(let kept):
      onEvent(.credentialChanged(appKey: app.key, words: "\(Self.words(kept)) takes the place of \(Self.words(old))"))
      return view(kept, new.warnings)
    case .occupied(let other): throw Self.occupied(by: other)
    case .changedMeanwhile: throw Self.changedMeanwhile("the credential")
    }
  }

  public func deleteCredential(_ app: AppRecord, id: Int64) async throws(RequestFault) {
    let note = note(.credentialRemoved, app, String(id))
    guard try await faulting(as: .push, await store.deleteCredential(app: app.id, id: id, audit: note)) else {
      throw Self.noSuch("credential", String(id))
    }
    onEvent(.credentialChanged(appKey: app.key, words: "credential \(id) was removed"))
  }

  /// Whether `addCredential` would take it, but for what the app has already.
  public func checkCredential(
    _ app: AppRecord, _ upload: CredentialUpload, environment: APNSEnvironment?
  ) throws(RequestFault) {
    _ = try read(upload, of: app, environment)
  }

  /// Keeps a certificate for one environment, in the place of the app's other one for that alone; false when it is there
  /// already. 9409 when a credential has both environments.
  public func putCertificate(
    _ app: AppRecord, _ upload: CredentialUpload, for environment: APNSEnvironment
  ) async throws(RequestFault) -> Bool {
    let there = try await credentials(app, after: 0, limit: Self.environmentCount)
    guard let old = there.first(where: { $0.environments == [environment] }) else {
      return try await addCredential(app, upload, environment: environment).isNew
    }
    let new = try read(upload, of: app, environment).stored
    if old.facts.fingerprint == new.fingerprint { return false }
    _ = try await rotateCredential(app, id: old.id, upload, environment: environment)
    return true
  }

  /// An app has one credential at most for each.
  private static let environmentCount = APNSEnvironment.allCases.count

  /// By id, those after the given one; at most `limit`.
  public func credentials(
    _ app: AppRecord, after: Int64, limit: Int
  ) async throws(RequestFault) -> [CredentialView] {
    try await faulting(as: .push, await store.credentials(app: app.id, after: after, limit: limit)).map { view($0) }
  }

  public func credential(_ app: AppRecord, id: Int64) async throws(RequestFault) -> CredentialView {
    guard let found = try await faulting(as: .push, await store.credential(app: app.id, id: id)) else {
      throw Self.noSuch("credential", String(id))
    }
    return view(found)
  }

  // MARK: For who sends

  /// Those of all apps. Throws, naming the app, when one was sealed under another key.
  public func openCredentials() async throws(RequestFault) -> [OpenCredential] {
    var open: [OpenCredential] = []
    for stored in try await faulting(as: .push, await store.credentials()) {
      guard let app = try await faulting(as: .push, await credentials.app(id: stored.app)) else { continue }
      guard let secret = try needSealing().open(stored.secret, for: .credential) else {
        throw RequestFault(
          .internalError,
          found: "credential \(stored.id) of app \(app.key) (\(stored.name)) was sealed under another key",
          remedy: "Give the sealing key that it was kept with, or remove it and add it again.")
      }
      open.append(OpenCredential(app: app, view: view(stored), secret: secret))
    }
    return open
  }

  /// Other than before when a credential was added, rotated or removed, by whomever.
  public func credentialVersions() async throws(RequestFault) -> [Int64: Int64] {
    try await faulting(as: .push, await store.credentialVersions())
  }

  // MARK: Parts

  private static let longestName = 255

  private func needSealing() throws(RequestFault) -> SealingKey {
    guard let sealing else { throw Self.keepsNone }
    return sealing
  }

  private static var keepsNone: RequestFault {
    RequestFault(
      .temporarilyUnavailable, found: "this process keeps no credentials", remedy: "Ask one that runs the service.")
  }

  private func read(
    _ upload: CredentialUpload, of app: AppRecord, _ environment: APNSEnvironment?
  ) throws(RequestFault) -> (stored: StoredCredential, warnings: [String]) {
    guard let credentialReader else { throw Self.keepsNone }
    let (sealing, now) = (try needSealing(), clock.now)
    let read: ReadCredential
    do throws(CredentialFault) { read = try credentialReader.read(upload, bundleID: app.bundleID, at: now) } catch {
      throw RequestFault(.invalidParameter, at: upload.place, found: error.found, remedy: error.remedy)
    }
    let facts = read.facts
    var environments = facts.environments
    if let environment {
      guard environments.contains(environment) else {
        throw RequestFault(
          .invalidParameter, at: "environment", found: "it is not for \(environment)",
          remedy: "Make a certificate for Sandbox & Production, or leave the environment out.")
      }
      environments = [environment]
    }
    let stored = StoredCredential(
      app: app.id, environments: Set(environments), name: String(upload.name.prefix(Self.longestName)),
      keyID: facts.keyID, teamID: facts.teamID, topics: facts.topics, notBefore: facts.notBefore,
      notAfter: facts.notAfter, fingerprint: facts.fingerprint,
      secret: sealing.seal(read.secret, for: .credential), createdAt: now, uploadedAt: now)
    return (stored, read.warnings)
  }

  /// A process with another sealing key than the service's would keep what that cannot open.
  private func checkSealing(besides id: Int64?) async throws(RequestFault) {
    let other = try await faulting(as: .push, await store.credentials()).first { $0.id != id }
    guard let other, try needSealing().open(other.secret, for: .credential) == nil else { return }
    throw RequestFault(
      .conflict, found: "credential \(other.id) (\(other.name)) was sealed under another key",
      remedy: "Give the sealing key that the service has, or remove what does not open any more.")
  }

  private static func isSame(_ one: StoredCredential, _ other: StoredCredential) -> Bool {
    one.fingerprint == other.fingerprint && one.keyID == other.keyID && one.teamID == other.teamID
      && one.environments == other.environments
  }

  private static func occupied(by other: StoredCredential) -> RequestFault {
    let environments = CredentialFacts.sorted(other.environments).map { "\($0)" }.joined(separator: " and ")
    return RequestFault(
      .conflict, at: "environment", found: "the app has credential \(other.id) (\(words(other))) for \(environments)",
      remedy: "Rotate that one, or remove it first.")
  }

  private static func words(_ stored: StoredCredential) -> String {
    stored.keyID.map { "key \($0) of team \(stored.teamID ?? "")" } ?? "the certificate \(quoted(stored.name))"
  }

  private func view(_ stored: StoredCredential, _ warnings: [String] = []) -> CredentialView {
    var facts = CredentialFacts(fingerprint: stored.fingerprint)
    (facts.keyID, facts.teamID, facts.topics) = (stored.keyID, stored.teamID, stored.topics)
    (facts.notBefore, facts.notAfter) = (stored.notBefore, stored.notAfter)
    facts.isForSandbox = stored.environments.contains(.sandbox)
    facts.isForProduction = stored.environments.contains(.production)
    var warnings = warnings
    if let notBefore = stored.notBefore, let notAfter = stored.notAfter {
      let term = CertificateTerm(notBefore: notBefore, notAfter: notAfter, at: clock.now)
      if let words = term.words(for: stored.name) { warnings.append(words) }
    }
    return CredentialView(
      id: stored.id, facts: facts, environments: facts.environments, name: stored.name, createdAt: stored.createdAt,
      uploadedAt: stored.uploadedAt, version: stored.version, warnings: warnings)
  }
}

extension CredentialFacts {
  fileprivate var environments: [APNSEnvironment] {
    (isForSandbox ? [.sandbox] : []) + (isForProduction ? [.production] : [])
  }

  fileprivate static func sorted(_ environments: Set<APNSEnvironment>) -> [APNSEnvironment] {
    environments.sorted { $0.rawValue < $1.rawValue }
  }
}

extension CredentialUpload {
  /// What a request calls it.
  var place: String {
    switch proof {
    case .key: "key"
    case .certificate: "certificate"
    }
  }
}
