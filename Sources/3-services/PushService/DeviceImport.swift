public import Audience
import Basics
import PushPayload
import Schedule
public import Store

/// What became of lines that were to be imported.
public struct DeviceImport: Sendable, Equatable {
  public var kept = 0
  /// There before; they stay as they are.
  public var known = 0
  /// Lines that are no device, by their numbers, in order.
  public var faults: [LineFault] = []

  public struct LineFault: Sendable, Equatable {
    public var line: Int64
    public var words: String
  }
}

extension PushService {
  /// How far the import of the source came that a process did not end.
  public func importMark(_ app: AppRecord, source: String) async throws(RequestFault) -> ImportMark? {
    try await faulting(as: .device, await store.importMark(app: app.id, source: source))
  }

  /// The source, called `name`, is dealt with whole; `words` tell what came of it.
  public func finishImport(
    _ app: AppRecord, source: String, name: String, words: String
  ) async throws(RequestFault) {
    let note = note(.devicesImported, app, name, words)
    try await faulting(as: .device, await store.finishImport(app: app.id, source: source, audit: note))
  }

  /// Keeps the devices that the lines tell of and that the app does not have yet, and with them how far the source has
  /// come: one transaction. `lines` are told with their numbers; a line of spaces is passed over.
  public func importDevices(
    _ app: AppRecord, _ lines: [(number: Int64, bytes: ArraySlice<UInt8>)], of format: DeviceFile,
    columns: [DeviceFile.Column], mark: ImportMark
  ) async throws(RequestFault) -> DeviceImport {
    var result = DeviceImport()
    var devices: [ImportedDevice] = []
    var numbers: [Int64] = []
    for (number, bytes) in lines where !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) {
      do throws(DeviceLineFault) {
        devices.append(try device(bytes, of: format, columns: columns))
        numbers.append(number)
      } catch {
        result.faults.append(.init(line: number, words: error.description))
      }
    }
    let answers = try await faulting(
      as: .device, await store.importDevices(app: app.id, devices, limits: limits, mark: mark))
    for (number, answer) in zip(numbers, answers) {
      switch answer {
      case .kept: result.kept += 1
      case .known: result.known += 1
      case .tokenTaken(let holder):
        result.faults.append(.init(line: number, words: "token: that of the device \(holder)"))
      case .registrationIDTaken:
        result.faults.append(.init(line: number, words: "registrationId: that of another device"))
      case .aliasFull(let devices):
        result.faults.append(
          .init(
            line: number,
            words: "alias: \(devices) devices have it; at most \(limits.devicesPerAlias) may share one"))
      }
    }
    result.faults.sort { $0.line < $1.line }
    let kept = result.kept
    metricCounts.change { $0.registrations += kept }
    return result
  }

  private func device(
    _ bytes: ArraySlice<UInt8>, of format: DeviceFile, columns: [DeviceFile.Column]
  ) throws(DeviceLineFault) -> ImportedDevice {
    guard bytes.count <= DeviceFile.longestLine else {
      throw DeviceLineFault("it is longer than \(DeviceFile.longestLine) bytes")
    }
    guard let line = String(validating: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes, as: UTF8.self)
    else { throw DeviceLineFault("it is not UTF-8") }
    let values = try format.values(of: line, columns: columns)
    do throws(RequestFault) { return try device(values) } catch {
      // without the remedy, which may quote a token
      throw DeviceLineFault("\(error.place.map { "\($0): " } ?? "")\(error.found)")
    }
  }

  private func device(_ values: DeviceFile.Values) throws(RequestFault) -> ImportedDevice {
    func wrong(_ column: DeviceFile.Column, _ wanted: String) -> RequestFault {
      RequestFault(
        .deviceInvalidParameter, at: column.rawValue,
        found: "“\(values[column]?.prefix(40) ?? "")” is not \(wanted)", remedy: "Give \(wanted).")
    }
    func time(_ column: DeviceFile.Column) throws(RequestFault) -> Instant? {
      guard let text = values[column] else { return nil }
      guard let time = Instant(rfc3339: text) else {
        throw wrong(column, "a time as 2026-11-30T09:00:00Z")
      }
      return time
    }
    var change = DeviceChange()
    change.alias = values[.alias].map { .set($0) }
    change.mobile = values[.mobile].map { .set($0) }
    if let text = values[.badge] {
      guard let badge = Int(text) else { throw wrong(.badge, "a number") }
      change.badge = badge
    }
    if let text = values[.onlyScheduled] {
      guard ["true", "false"].contains(text) else { throw wrong(.onlyScheduled, "true or false") }
      change.onlyScheduled = text == "true"
    }
    if let text = values[.quietHours] {
      guard let hours = QuietHours(text) else { throw wrong(.quietHours, "HH:MM-HH:MM, as 22:00-07:00") }
      change.quietHours = .set(hours)
    }
    if let text = values[.channels] { change.channels = .set(text.split(separator: " ").map(String.init)) }
    let permission = values[.permission].flatMap(NotificationPermission.init(word:))
    if values[.permission] != nil, permission == nil {
      throw wrong(.permission, NotificationPermission.allCases.map(\.word).joined(separator: ", "))
    }
    change.facts = DeviceDescription(
      osVersion: values[.osVersion], appVersion: values[.appVersion], language: values[.language],
      timeZone: values[.timeZone], model: values[.model], permission: permission)
    let now = clock.now
    let edit = try Self.edit(change, at: now)
    var device = ImportedDevice(
      registrationID: values[.registrationID] ?? Sodium.randomHex(digits: 19),
      isIDGiven: values[.registrationID] != nil, token: try Self.token(values[.token] ?? ""),
      environment: .production, badge: edit.badge ?? 0, onlyScheduled: edit.onlyScheduled ?? false, facts: edit.facts,
      createdAt: now, registeredAt: now, seenAt: now)
    switch values[.environment] {
    case nil, "production": break
    case "sandbox": device.environment = .sandbox
    case _?: throw wrong(.environment, "production or sandbox")
    }
    if device.isIDGiven {
      try NameRule.registrationID.check(device.registrationID, .deviceInvalidParameter, at: "registrationId")
    }
    device.tags = values[.tags]?.split(separator: " ").map(String.init) ?? []
    for tag in device.tags { try NameRule.tag.check(tag, .deviceInvalidParameter, at: "tags") }
    guard Set(device.tags).count <= limits.tagsPerDevice else {
      throw RequestFault(
        .tooManyTags, at: "tags", found: "\(device.tags.count) tags; a device has at most \(limits.tagsPerDevice)",
        remedy: "Remove some.")
    }
    device.alias = values[.alias]
    device.mobile = values[.mobile]
    // When its token was registered is unknown if the line does not say: then whatever APNs says of its death counts.
    let createdAt = try time(.createdAt)
    device.createdAt = createdAt ?? now
    device.registeredAt = try time(.registeredAt) ?? createdAt ?? Instant(milliseconds: 0)
    device.seenAt = try time(.lastSeen) ?? now
    device.quietHours = edit.quietHours?.value
    device.channels = edit.channels?.value
    device.tokens = try purposeTokens(values, registeredAt: device.registeredAt)
    return device
  }

  /// What does not say when it was told is as old as the device's own token.
  private func purposeTokens(
    _ values: DeviceFile.Values, registeredAt: Instant
  ) throws(RequestFault) -> [PurposeToken] {
    var tokens: [PurposeToken] = []
    func add(_ purpose: TokenPurpose, _ text: String, _ column: DeviceFile.Column) throws(RequestFault) {
      try AudienceRule.check(purpose, .deviceInvalidParameter)
      let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let at = parts.count == 2 ? Instant(rfc3339: parts[1]) : registeredAt
      guard let at else {
        throw RequestFault(
          .deviceInvalidParameter, at: column.rawValue, found: "behind @ no time as 2026-11-30T09:00:00Z",
          remedy: "Give the time when the token was told, or leave it out with the @.")
      }
      tokens.append(PurposeToken(purpose, try Self.token(parts[0], at: purpose.place), registeredAt: at))
    }
    if let text = values[.voipToken] { try add(.voip, text, .voipToken) }
    for (column, purpose) in [
      (DeviceFile.Column.activityStartTokens, TokenPurpose.activityStart(type:)),
      (.activities, TokenPurpose.activity(id:)),
    ] {
      let named = DeviceFile.named(values[column] ?? "")
      guard named.count <= limits.activities else {
        throw RequestFault(
          .deviceInvalidParameter, at: column.rawValue, found: "\(named.count) tokens",
          remedy: "A device has at most \(limits.activities).")
      }
      for (name, value) in named { try add(purpose(name), value, column) }
    }
    return tokens
  }

  // MARK: Exporting

  /// The app's devices whose tokens live as lines of a file, those after the given one: some of them, and after which
  /// to ask next; nil when there are no more. What is registered meanwhile may be in or not.
  public func exportDevices(
    _ app: AppRecord, as format: DeviceFile, after: DeviceOrdinal?
  ) async throws(RequestFault) -> (lines: [String], dead: Int, next: DeviceOrdinal?) {
    let limit = 2000
    let devices = try await faulting(
      as: .device, await store.devices(app: app.id, in: .everyone, after: after, limit: limit, at: clock.now))
    let alive = devices.filter { $0.death == nil }
    var tokens: [DeviceOrdinal: [PurposeToken]] = [:]
    if let first = devices.first, let last = devices.last {
      tokens = try await faulting(
        as: .device, await store.purposeTokens(app: app.id, of: first.ordinal...last.ordinal))
    }
    return (
      alive.map { format.line(Self.values(of: $0, tokens[$0.ordinal] ?? [])) }, devices.count - alive.count,
      devices.count < limit ? nil : devices.last?.ordinal
    )
  }

  private static func values(of device: StoredDevice, _ tokens: [PurposeToken]) -> DeviceFile.Values {
    var values: DeviceFile.Values = [
      .registrationID: device.registrationID, .token: device.token.hex,
      .environment: device.environment == .sandbox ? "sandbox" : "production", .badge: String(device.badge),
      .createdAt: device.createdAt.description, .registeredAt: device.registeredAt.description,
      .lastSeen: device.seenAt.description,
    ]
    values[.alias] = device.alias
    values[.mobile] = device.mobile
    if !device.tags.isEmpty { values[.tags] = device.tags.joined(separator: " ") }
    if device.onlyScheduled { values[.onlyScheduled] = "true" }
    values[.quietHours] = device.quietHours?.description
    values[.channels] = device.channels.map { $0.isEmpty ? " " : $0.joined(separator: " ") }
    for token in tokens {
      let text = "\(token.token.hex)@\(token.registeredAt)"
      func add(_ column: DeviceFile.Column, _ name: String) {
        values[column] = (values[column].map { $0 + " " } ?? "") + "\(name)=\(text)"
      }
      switch token.purpose {
      case .voip: values[.voipToken] = text
      case .activityStart(let type): add(.activityStartTokens, type)
      case .activity(let id): add(.activities, id)
      }
    }
    values[.osVersion] = device.facts.osVersion
    values[.appVersion] = device.facts.appVersion
    values[.language] = device.facts.language
    values[.timeZone] = device.facts.timeZone
    values[.model] = device.facts.model
    values[.permission] = device.facts.permission?.word
    return values
  }
}
