internal import Transport

/// A request as it came, sorted: where each header stands, no judgement. One pass; no field is copied.
struct PushRequest: Sendable {
  /// The headers that mean something to APNs; everything else is ignored, except that nothing may come twice.
  enum Header: UInt8, CaseIterable, Sendable {
    case authorization, topic, pushType, messageID, expiration, priority, collapseID
  }

  private let fields: HTTP2FieldList
  private var places = Places()
  private var others: [Int] = []

  /// Where in `fields` things stand; -1 for what did not come.
  private struct Places: Sendable {
    var method = -1
    var path = -1
    var authority = -1
    var host = -1
    /// By `Header.rawValue`; the first value when a header came twice.
    var headers: InlineArray<7, Int> = .init(repeating: -1)
    /// The first field whose name had come before.
    var repeated = -1
  }

  init() { fields = HTTP2FieldList() }

  init(_ fields: HTTP2FieldList) {
    self.fields = fields
    for index in 0..<fields.count { note(fields.withName(at: index, Self.meaning(of:)), index) }
  }

  var method: Bytes { value(places.method) ?? [] }
  var path: Bytes { value(places.path) ?? [] }
  /// `:authority`, else `host`: Apple's own examples and aioapns send the latter.
  var host: Bytes? { value(places.authority) ?? value(places.host) }
  /// The first header name that came twice.
  var repeated: Bytes? { places.repeated < 0 ? nil : fields.name(at: places.repeated) }

  /// Names beginning with `apns-` that mean nothing here: ignored, but told, since each is a mistake.
  var unknownAPNSHeaders: [String] {
    others.lazy.map { fields.name(at: $0) }.filter { $0.prefix(5).equals("apns-" as StaticString) }.map { text($0) }
  }

  subscript(header: Header) -> Bytes? { value(places.headers[Int(header.rawValue)]) }

  private func value(_ place: Int) -> Bytes? { place < 0 ? nil : fields.value(at: place) }

  private mutating func note(_ meaning: Meaning, _ index: Int) {
    switch meaning {
    case .method: places.method = index
    case .path: places.path = index
    case .authority: places.authority = index
    case .host:
      if places.host < 0 { places.host = index } else { noteRepeated(index) }
    case .header(let header):
      let place = Int(header.rawValue)
      if places.headers[place] < 0 { places.headers[place] = index } else { noteRepeated(index) }
    case .pseudo, .cookie: break
    case .other:
      let name = fields.name(at: index)
      if others.contains(where: { fields.name(at: $0).equals(name) }) {
        noteRepeated(index)
      } else {
        others.append(index)
      }
    }
  }

  private mutating func noteRepeated(_ index: Int) {
    if places.repeated < 0 { places.repeated = index }
  }

  private enum Meaning {
    case method, path, authority, host, pseudo, cookie, other
    case header(Header)
  }

  /// Names are lower case in HTTP/2 (RFC 9113 §8.2).
  private static func meaning(of name: UnsafeRawBufferPointer) -> Meaning {
    func named(_ other: StaticString) -> Bool { other.withBytes { isEqual(name, $0) } }
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
