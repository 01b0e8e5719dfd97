/// A payload prepared once, to be written for many devices with only the badge and the message id changed.
///
/// Writing copies bytes and digits into the caller's buffer and allocates nothing. What is written is byte for byte what
/// `rendered(badge:messageID:).encoded()` gives.
public struct PayloadRenderer: Sendable {
  /// The key that carries the service's id for click counts; a number.
  public static let messageIDKey = "_j_msgid"

  private let template: JSONObject
  /// By `(badge given) + 2 × (id given)`.
  private let forms: [Form]

  /// Fixed bytes with holes for the two numbers, `first` before `second`.
  private struct Form: Sendable {
    var bytes: [UInt8] = []
    var holes: [(at: Int, number: Hole)] = []
  }

  private enum Hole { case badge, messageID }

  /// A badge and message id in `payload` are left out: both are given with each writing.
  public init(_ payload: JSONObject) {
    template = payload
    forms = (0..<4).map { index in
      Self.form(Self.rendered(payload, badge: index & 1 == 0 ? nil : 0, messageID: index & 2 == 0 ? nil : 0))
    }
  }

  /// The value that is written: `badge` in `aps` (made if there is none) and the id at the top level, each in the place of
  /// the template's own or else last; without them when nil.
  public func rendered(badge: Int64?, messageID: Int64?) -> JSONValue {
    .object(Self.rendered(template, badge: badge, messageID: messageID))
  }

  /// Bytes that the longest numbers need: enough for every writing.
  public var maximumSize: Int { forms[3].bytes.count + 2 * Self.longestNumber }

  /// Bytes that `write` will write.
  public func size(badge: Int64?, messageID: Int64?) -> Int {
    form(badge, messageID).bytes.count + (badge.map(digitCount) ?? 0) + (messageID.map(digitCount) ?? 0)
  }

  /// Writes at the start of `buffer` and answers how many bytes; nil, and nothing is written, when `buffer` is too small.
  public func write(badge: Int64?, messageID: Int64?, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let form = form(badge, messageID)
    guard let target = buffer.baseAddress, buffer.count >= size(badge: badge, messageID: messageID) else { return nil }
    return form.bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return 0 }
      var read = 0
      var written = 0
      for hole in form.holes {
        (target + written).copyMemory(from: source + read, byteCount: hole.at - read)
        written += hole.at - read
        read = hole.at
        let number: Int64? =
          switch hole.number {
          case .badge: badge
          case .messageID: messageID
          }
        written += writeDigits(of: number ?? 0, to: target + written)
      }
      (target + written).copyMemory(from: source + read, byteCount: bytes.count - read)
      return written + bytes.count - read
    }
  }

  /// Appends to `bytes`; allocates only when its capacity does not suffice.
  public func append(badge: Int64?, messageID: Int64?, to bytes: inout [UInt8]) {
    let form = form(badge, messageID)
    var read = 0
    for hole in form.holes {
      bytes.append(contentsOf: form.bytes[read..<hole.at])
      read = hole.at
      let number: Int64? =
        switch hole.number {
        case .badge: badge
        case .messageID: messageID
        }
      withUnsafeTemporaryAllocation(byteCount: Self.longestNumber, alignment: 1) { digits in
        guard let start = digits.baseAddress else { return }
        let count = writeDigits(of: number ?? 0, to: start)
        bytes.append(contentsOf: digits[..<count])
      }
    }
    bytes.append(contentsOf: form.bytes[read...])
  }

  private static let longestNumber = 20

  private func form(_ badge: Int64?, _ messageID: Int64?) -> Form {
    forms[(badge == nil ? 0 : 1) + (messageID == nil ? 0 : 2)]
  }

  /// The same for a payload that is written once.
  public static func rendered(_ template: JSONObject, badge: Int64?, messageID: Int64?) -> JSONObject {
    var payload = template
    if badge != nil || payload["aps"]?.object?["badge"] != nil {
      var aps = payload["aps"]?.object ?? JSONObject()
      aps["badge"] = badge.map { .number(JSONNumber($0)) }
      payload["aps"] = .object(aps)
    }
    payload[messageIDKey] = messageID.map { .number(JSONNumber($0)) }
    return payload
  }

  /// Encodes `payload`, leaving holes where the last `aps.badge` and the last message id stand. Time is linear in its
  /// size: a door may measure payloads far beyond the limit.
  private static func form(_ payload: JSONObject) -> Form {
    var form = Form()
    let (id, aps) = (payload.lastIndex(of: messageIDKey), payload.lastIndex(of: "aps"))
    write(payload, to: &form) { index, value, form in
      if index == id {
        form.holes.append((form.bytes.count, .messageID))
      } else if index == aps, let aps = value.object {
        let badge = aps.lastIndex(of: "badge")
        write(aps, to: &form) { index, value, form in
          if index == badge {
            form.holes.append((form.bytes.count, .badge))
          } else {
            value.write(to: &form.bytes)
          }
        }
      } else {
        value.write(to: &form.bytes)
      }
    }
    return form
  }

  private static func write(_ object: JSONObject, to form: inout Form, value: (Int, JSONValue, inout Form) -> Void) {
    form.bytes.append(UInt8(ascii: "{"))
    for (index, member) in object.members.enumerated() {
      if index > 0 { form.bytes.append(UInt8(ascii: ",")) }
      member.key.writeJSON(to: &form.bytes)
      form.bytes.append(UInt8(ascii: ":"))
      value(index, member.value, &form)
    }
    form.bytes.append(UInt8(ascii: "}"))
  }
}

extension JSONObject {
  fileprivate func lastIndex(of key: String) -> Int? { members.lastIndex { $0.key.utf8.elementsEqual(key.utf8) } }
}

private func digitCount(_ number: Int64) -> Int {
  var rest = number.magnitude
  var count = number < 0 ? 2 : 1
  while rest >= 10 {
    rest /= 10
    count += 1
  }
  return count
}

/// Writes `number` in decimal and answers how many bytes: at most 20.
private func writeDigits(of number: Int64, to target: UnsafeMutableRawPointer) -> Int {
  let count = digitCount(number)
  var rest = number.magnitude
  var at = count - 1
  repeat {
    target.storeBytes(of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: at, as: UInt8.self)
    rest /= 10
    at -= 1
  } while rest > 0
  if number < 0 { target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 0, as: UInt8.self) }
  return count
}
