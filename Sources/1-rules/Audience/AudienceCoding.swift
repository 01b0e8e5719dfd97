internal import Basics

/// The form in which stores keep expressions. Numbers of kinds are never reused; a reader takes what an older Belfry wrote.
extension AudienceExpression {
  private enum Kind: UInt8 {
    case everyone = 0
    case tag = 1
    case alias = 2
    case registrationID = 3
    case appVersion = 4
    case osVersion = 5
    case language = 6
    case timeZone = 7
    case model = 8
    case permission = 9
    case lastSeen = 10
    case created = 11
    case segment = 12
    case saved = 13
    case variant = 14
    case share = 15
    case all = 16
    case any = 17
    case not = 18
    case file = 19
    case holds = 20
  }

  /// Deeper ones are read by nobody.
  public static let deepest = 64

  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return bytes
  }

  /// nil for what `encoded` did not write, or no Belfry as old as this one.
  public init?(encoded bytes: [UInt8]) {
    var reader = ByteReader(bytes: bytes[...])
    guard let expression = Self.read(&reader, depth: 0), reader.bytes.isEmpty else { return nil }
    self = expression
  }

  private func write(into bytes: inout [UInt8]) {
    func put(_ kind: Kind, _ texts: String...) {
      bytes.append(kind.rawValue)
      for text in texts { bytes.append(text: text) }
    }
    func put(_ kind: Kind, _ parts: [AudienceExpression]) {
      bytes.append(kind.rawValue)
      bytes.append(number: UInt64(parts.count))
      for part in parts { part.write(into: &bytes) }
    }
    switch self {
    case .everyone: put(.everyone)
    case .tag(let name): put(.tag, name)
    case .alias(let name): put(.alias, name)
    case .registrationID(let name): put(.registrationID, name)
    case .file(let id): put(.file, id)
    case .appVersion(let comparison, let version):
      put(.appVersion, version)
      bytes.append(comparison.rawValue)
    case .osVersion(let comparison, let version):
      put(.osVersion, version)
      bytes.append(comparison.rawValue)
    case .language(let range): put(.language, range)
    case .timeZone(let name): put(.timeZone, name)
    case .model(let name): put(.model, name)
    case .permission(let permission):
      put(.permission)
      bytes.append(permission.rawValue)
    case .holds(let purpose):
      put(.holds, purpose.name)
      bytes.append(purpose.kind)
    case .lastSeen(let comparison):
      put(.lastSeen)
      comparison.write(into: &bytes)
    case .created(let comparison):
      put(.created)
      comparison.write(into: &bytes)
    case .segment(let id): put(.segment, id)
    case .saved(let id, let expression):
      put(.saved, id)
      expression.write(into: &bytes)
    case .variant(let test, let name): put(.variant, test, name)
    case .share(let share):
      put(.share, share.test, share.variant)
      bytes.append(number: UInt64(share.slots.lowerBound))
      bytes.append(number: UInt64(share.slots.upperBound))
    case .all(let parts): put(.all, parts)
    case .any(let parts): put(.any, parts)
    case .not(let part): put(.not, [part])
    }
  }

  private static func read(_ reader: inout ByteReader, depth: Int) -> AudienceExpression? {
    guard depth <= deepest, let kind = reader.byte().flatMap(Kind.init(rawValue:)) else { return nil }
    switch kind {
    case .everyone: return .everyone
    case .tag: return reader.text().map(AudienceExpression.tag)
    case .alias: return reader.text().map(AudienceExpression.alias)
    case .registrationID: return reader.text().map(AudienceExpression.registrationID)
    case .file: return reader.text().map(AudienceExpression.file)
    case .appVersion, .osVersion:
      guard let version = reader.text(), let comparison = reader.byte().flatMap(VersionComparison.init(rawValue:))
      else {
        return nil
      }
      return kind == .appVersion ? .appVersion(comparison, version) : .osVersion(comparison, version)
    case .language: return reader.text().map(AudienceExpression.language)
    case .timeZone: return reader.text().map(AudienceExpression.timeZone)
    case .model: return reader.text().map(AudienceExpression.model)
    case .permission: return reader.byte().flatMap(NotificationPermission.init(rawValue:)).map { .permission($0) }
    case .holds:
      guard let name = reader.text(), let kind = reader.byte() else { return nil }
      return TokenPurpose(kind: kind, name: name).map { .holds($0) }
    case .lastSeen: return TimeComparison(&reader).map { .lastSeen($0) }
    case .created: return TimeComparison(&reader).map { .created($0) }
    case .segment: return reader.text().map(AudienceExpression.segment)
    case .saved:
      guard let id = reader.text(), let expression = read(&reader, depth: depth + 1) else { return nil }
      return .saved(segment: id, expression)
    case .variant:
      guard let test = reader.text(), let name = reader.text() else { return nil }
      return .variant(test: test, name: name)
    case .share:
      guard let test = reader.text(), let variant = reader.text(), let low = reader.number(),
        let high = reader.number(),
        low <= high, high <= UInt64(AudienceShare.slotCount)
      else { return nil }
      return .share(AudienceShare(test: test, variant: variant, slots: UInt16(low)..<UInt16(high)))
    case .all, .any, .not:
      guard let count = reader.number(), count <= reader.bytes.count else { return nil }
      var parts: [AudienceExpression] = []
      for _ in 0..<count {
        guard let part = read(&reader, depth: depth + 1) else { return nil }
        parts.append(part)
      }
      if kind == .all { return .all(parts) }
      if kind == .any { return .any(parts) }
      return parts.count == 1 ? .not(parts[0]) : nil
    }
  }
}

extension TimeComparison {
  fileprivate func write(into bytes: inout [UInt8]) {
    let (kind, number): (UInt8, Int64) =
      switch self {
      case .from(let moment): (0, moment.milliseconds)
      case .before(let moment): (1, moment.milliseconds)
      case .within(let span): (2, span.milliseconds)
      case .longerAgo(let span): (3, span.milliseconds)
      }
    bytes.append(kind)
    bytes.append(number: UInt64(bitPattern: number))
  }

  fileprivate init?(_ reader: inout ByteReader) {
    guard let kind = reader.byte(), let bits = reader.number() else { return nil }
    let number = Int64(bitPattern: bits)
    switch kind {
    case 0: self = .from(Instant(milliseconds: number))
    case 1: self = .before(Instant(milliseconds: number))
    case 2: self = .within(.milliseconds(number))
    case 3: self = .longerAgo(.milliseconds(number))
    default: return nil
    }
  }
}

/// Numbers seven bits a byte, lowest first; texts with their length in front.
private struct ByteReader {
  var bytes: ArraySlice<UInt8>

  mutating func byte() -> UInt8? { bytes.popFirst() }

  mutating func number() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }

  mutating func text() -> String? {
    guard let count = number(), count <= bytes.count else { return nil }
    defer { bytes = bytes.dropFirst(Int(count)) }
    return String(validating: bytes.prefix(Int(count)), as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  fileprivate mutating func append(text: String) {
    append(number: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}
