public import Audience
import Basics
import PushPayload
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
    return device
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
    return (
      alive.map { format.line(Self.values(of: $0)) }, devices.count - alive.count,
      devices.count < limit ? nil : devices.last?.ordinal
    )
  }

  private static func values(of device: StoredDevice) -> DeviceFile.Values {
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
    values[.osVersion] = device.facts.osVersion
    values[.appVersion] = device.facts.appVersion
    values[.language] = device.facts.language
    values[.timeZone] = device.facts.timeZone
    values[.model] = device.facts.model
    values[.permission] = device.facts.permission?.word
    return values
  }
}
