import Audience
import Basics
import PushPayload
import Store

extension PushService {
  /// The same token registers the same device again and revives it; it keeps its registration id, tags, alias, badge
  /// and preference.
  public func register(appKey: String, _ registration: DeviceRegistration) async throws(RequestFault) -> Registered {
    guard let app = try await credentials.app(key: appKey) else {
      throw RequestFault(
        .deviceAuthenticationFailed, at: "appKey", found: "an app key that is unknown here",
        remedy: "Use the app key that `belfry app create` showed.")
    }
    let token = try Self.token(registration.token)
    if let bundleID = registration.bundleID, bundleID != app.bundleID {
      throw RequestFault(
        .deviceInvalidParameter, at: "bundleID", found: "“\(bundleID.prefix(60))”",
        remedy: "This app key is for \(app.bundleID): a token of another app can never be pushed to with it.")
    }
    let facts = try DeviceFacts(registration.facts)
    let secret = Sodium.randomHex(digits: 64)
    var attempts = 0
    while true {
      do throws(StoreFault) {
        let device = try await store.register(
          DeviceDraft(
            app: app.id, registrationID: Sodium.randomHex(digits: 19), token: token,
            environment: registration.environment, secretHash: Credentials.hash(deviceSecret: secret), facts: facts,
            at: clock.now))
        metricCounts.change { $0.registrations += 1 }
        return Registered(registrationID: device.registrationID, deviceSecret: secret)
      } catch {
        attempts += 1
        guard case .taken = error, attempts < 3 else { throw RequestFault(error, .device) }
      }
    }
  }

  static func token(_ text: String, at place: String = "token") throws(RequestFault) -> [UInt8] {
    do throws(DeviceTokenFault) {
      return try DeviceTokenText.read(text)
    } catch {
      throw RequestFault(.deviceInvalidParameter, at: place, found: error.found, remedy: error.remedy)
    }
  }

  /// The device is gone with all that was kept of it; its app registers anew under another id.
  public func deleteDevice(_ app: AppRecord, registrationID: String) async throws(RequestFault) {
    try NameRule.registrationID.check(registrationID, .deviceInvalidParameter, at: "registration_id")
    let wasThere = try await faulting(
      as: .device,
      await store.deleteDevice(
        app: app.id, registrationID: registrationID, audit: note(.deviceDeleted, app, registrationID)))
    guard wasThere else { throw Self.noSuchDevice(registrationID) }
  }

  /// 9404 (to JPush's SDKs 7002) when the app has no such device.
  public func device(_ app: AppRecord, registrationID: String) async throws(RequestFault) -> DeviceView {
    try NameRule.registrationID.check(registrationID, .deviceInvalidParameter, at: "registration_id")
    let device = try await faulting(as: .device, await store.device(app: app.id, registrationID: registrationID))
    guard let device else { throw Self.noSuchDevice(registrationID) }
    return DeviceView(device)
  }

  /// Of those devices that the app has, in the order given; an id that is unknown or no id at all has no status.
  public func statuses(
    _ app: AppRecord, registrationIDs: [String]
  ) async throws(RequestFault) -> [DeviceStatus] {
    try Self.checkCount(registrationIDs, at: "registration_ids")
    let devices = try await faulting(as: .device, await store.devices(app: app.id, registrationIDs: registrationIDs))
    let now = clock.now
    return devices.map {
      DeviceStatus(
        registrationID: $0.registrationID,
        isOnline: inApp?.isConnected(app.id, $0.ordinal) ?? (now - $0.seenAt < Self.onlineSpan), seenAt: $0.seenAt)
    }
  }

  private static let onlineSpan = Instant.Span.minutes(10)

  /// Applied whole or not at all; tags are removed before others are added. Changes of one device at the same time end
  /// one after the other, each with its own answer.
  public func changeDevice(
    _ app: AppRecord, registrationID: String, _ change: DeviceChange
  ) async throws(RequestFault) {
    try NameRule.registrationID.check(registrationID, .deviceInvalidParameter, at: "registration_id")
    let edit = try Self.edit(change, at: clock.now)
    let answer = try await faulting(
      as: .device,
      await store.changeDevice(
        app: app.id, registrationID: registrationID, edit, limits: limits,
        audit: noteOfCaller(.deviceChanged, app, registrationID)))
    switch answer {
    case .done: break
    case .noSuchDevice: throw Self.noSuchDevice(registrationID)
    case .changedMeanwhile: throw Self.changedMeanwhile("the device")
    case .aliasFull(let devices):
      throw RequestFault(
        .aliasFull, at: "alias", found: "an alias that \(devices) devices have already",
        remedy: "An alias is shared by at most \(limits.devicesPerAlias) devices: clear it on one, or use a tag.")
    case .tooManyTags(let tags):
      throw RequestFault(
        .tooManyTags, at: "tags", found: "\(tags) tags in all",
        remedy: "A device has at most \(limits.tagsPerDevice) tags: remove some.")
    }
  }

  static func edit(_ change: DeviceChange, at now: Instant) throws(RequestFault) -> DeviceEdit {
    var edit = DeviceEdit()
    edit.clearTags = change.clearTags
    edit.removeTags = try tags(change.removeTags, "tags.remove")
    edit.addTags = try tags(change.addTags, "tags.add")
    if let alias = change.alias?.value { try NameRule.alias.check(alias, .deviceInvalidParameter, at: "alias") }
    edit.alias = change.alias
    if let mobile = change.mobile?.value {
      guard mobile.utf8.count <= 20, mobile.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw RequestFault(
          .deviceInvalidParameter, at: "mobile", found: "no telephone number",
          remedy: "Send at most 20 digits, +, - or other ASCII characters without spaces.")
      }
    }
    edit.mobile = change.mobile
    if let badge = change.badge {
      guard Int(BadgeArithmetic.range.lowerBound)...Int(BadgeArithmetic.range.upperBound) ~= badge else {
        throw RequestFault(
          .deviceInvalidParameter, at: "badge", found: "\(badge)",
          remedy: "Send 0 to \(BadgeArithmetic.range.upperBound).")
      }
      edit.badge = Int32(badge)
    }
    edit.onlyScheduled = change.onlyScheduled
    edit.quietHours = change.quietHours
    edit.channels = change.channels
    if let channels = change.channels?.value { edit.channels = .set(try tags(channels, "channels")) }
    edit.facts = try DeviceFacts(change.facts)
    edit.token = try change.token.map { new throws(RequestFault) in
      DeviceEdit.NewToken(try token(new.text), new.environment, at: now)
    }
    for (purpose, text) in change.tokens {
      try AudienceRule.check(purpose, .deviceInvalidParameter)
      var bytes: [UInt8]?
      if let text { bytes = try token(text, at: purpose.place) }
      edit.tokens.append(TokenEdit(purpose, bytes, at: now))
    }
    edit.ifUnchanged = change.ifUnchanged
    return edit
  }

  /// At most 100 a call and 1,000 bytes in all (jpush.md §7).
  private static func tags(_ tags: [String], _ place: String) throws(RequestFault) -> [String] {
    let bytes = tags.reduce(0) { $0 + $1.utf8.count }
    guard tags.count <= 100, bytes <= 1000 else {
      throw RequestFault(
        .deviceInvalidParameter, at: place, found: "\(tags.count) tags of \(bytes) bytes in all",
        remedy: "Send at most 100 tags and 1,000 bytes in one call.")
    }
    for (index, tag) in tags.enumerated() {
      try NameRule.tag.check(tag, .deviceInvalidParameter, at: "\(place)[\(index)]")
    }
    return tags
  }

  private static func noSuchDevice(_ registrationID: String) -> RequestFault {
    RequestFault(
      .noSuchResource, at: "registration_id", found: "no device “\(registrationID.prefix(64))” in this app",
      remedy: "Use a registration id that a registration under this app key answered.")
  }
}

extension DeviceView {
  init(_ device: StoredDevice) {
    self.init(
      registrationID: device.registrationID, tags: device.tags, alias: device.alias, mobile: device.mobile,
      environment: device.environment, badge: Int(device.badge), onlyScheduled: device.onlyScheduled,
      facts: DeviceDescription(device.facts), createdAt: device.createdAt,
      quietHours: device.quietHours, channels: device.channels, purposes: device.purposes,
      registeredAt: device.registeredAt, seenAt: device.seenAt,
      deadReason: device.death.map { $0.words(registeredAt: device.registeredAt) },
      ordinal: device.ordinal, fingerprint: device.fingerprint)
  }
}

extension TokenPurpose {
  /// Where a device's own call says it.
  var place: String {
    switch self {
    case .voip: "voipToken"
    case .activityStart(let type): "activityStartTokens.\(type)"
    case .activity(let id): "activities.\(id)"
    }
  }
}

extension DeviceDescription {
  init(_ facts: DeviceFacts) {
    self.init(
      osVersion: facts.osVersion, appVersion: facts.appVersion, language: facts.language, timeZone: facts.timeZone,
      model: facts.model, permission: facts.permission)
  }
}

extension DeviceFacts {
  init(_ description: DeviceDescription) throws(RequestFault) {
    func checked(_ text: String?, _ place: String) throws(RequestFault) -> String? {
      guard let text, text.isEmpty || text.utf8.count > AudienceRule.longestFact else { return text }
      throw RequestFault(
        .deviceInvalidParameter, at: place, found: "\(text.utf8.count) bytes",
        remedy: "Send 1 to \(AudienceRule.longestFact) bytes, or leave it out.")
    }
    self.init(
      osVersion: try checked(description.osVersion, "osVersion"),
      appVersion: try checked(description.appVersion, "appVersion"),
      language: try checked(description.language, "language"),
      timeZone: try checked(description.timeZone, "timeZone"), model: try checked(description.model, "model"),
      permission: description.permission)
  }
}
