internal import Transport

/// A request as it came, sorted: what each header says, no judgement. One pass, no text is made.
struct PushRequest: Sendable {
  /// The headers that mean something to APNs; everything else is ignored, except that nothing may come twice.
  enum Header: UInt8, CaseIterable, Sendable {
    case authorization, topic, pushType, messageID, expiration, priority, collapseID
  }

  private(set) var method: Bytes = []
  private(set) var path: Bytes = []
  /// `:authority`, else `host`: Apple's own examples and aioapns send the latter.
  private(set) var host: Bytes?
  /// By `Header.rawValue`; the first value when a header came twice.
  private var values: InlineArray<7, Bytes?> = .init(repeating: nil)
  /// The first header name that came twice.
  private(set) var repeated: Bytes?
  private var others: [Bytes] = []

  /// Names beginning with `apns-` that mean nothing here: ignored, but told, since each is a mistake.
  var unknownAPNSHeaders: [String] {
    others.lazy.filter { $0.prefix(5).equals("apns-" as StaticString) }.map { text($0) }
  }

  init() {}

  init(_ fields: HTTP2FieldList) {
    for index in 0..<fields.count { add(name: fields.name(at: index), value: fields.value(at: index)) }
  }

  subscript(header: Header) -> Bytes? { values[Int(header.rawValue)] }

  /// Takes the next field of the wire. Names are lower case in HTTP/2 (RFC 9113 §8.2).
  mutating func add(name: Bytes, value: Bytes) {
    switch Self.meaning(of: name) {
    case .method: method = value
    case .path: path = value
    case .authority: host = value
    case .host:
      if host == nil { host = value }
      note(name)
    case .header(let header):
      if values[Int(header.rawValue)] == nil {
        values[Int(header.rawValue)] = value
      } else if repeated == nil {
        repeated = name
      }
    case .pseudo, .cookie: break
    case .other: note(name)
    }
  }

  private mutating func note(_ name: Bytes) {
    if others.contains(where: { $0.equals(name) }) {
      if repeated == nil { repeated = name }
    } else {
      others.append(name)
    }
  }

  private enum Meaning {
    case method, path, authority, host, pseudo, cookie, other
    case header(Header)
  }

  private static func meaning(of name: Bytes) -> Meaning {
    func named(_ other: StaticString) -> Bool { name.equals(other) }
    return switch name.count {
    case 4 where named("host"): .host
    case 5 where named(":path"): .path
    case 6 where named("cookie"): .cookie  // may be split into several (RFC 9113 §8.2.3)
    case 7 where named(":method"): .method
    case 7 where named("apns-id"): .header(.messageID)
    case 10 where named(":authority"): .authority
    case 10 where named("apns-topic"): .header(.topic)
    case 13 where named("authorization"): .header(.authorization)
    case 13 where named("apns-priority"): .header(.priority)
    case 14 where named("apns-push-type"): .header(.pushType)
    case 15 where named("apns-expiration"): .header(.expiration)
    case 16 where named("apns-collapse-id"): .header(.collapseID)
    default: name.first == UInt8(ascii: ":") ? .pseudo : .other
    }
  }
}
