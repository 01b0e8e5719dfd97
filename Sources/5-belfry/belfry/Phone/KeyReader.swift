/// A key as a person pressed it.
enum Key: Hashable, Sendable {
  case character(Character)
  case enter, escape, tab, backTab, backspace, delete
  case up, down, left, right, home, end, pageUp, pageDown
  /// With the control key: `c` for Ctrl-C.
  case control(Character)
}

/// Turns a terminal's bytes into keys: UTF-8, and the sequences of VT and xterm (ECMA-48 CSI, SS3). What it does not know
/// it drops whole, so that no sequence falls apart into letters that mean something. A value; pure.
struct KeyReader: Sendable {
  private var pending: [UInt8] = []

  /// An escape came and nothing yet behind it: call `flush` when nothing follows within some 50 ms.
  var isWaiting: Bool { !pending.isEmpty }

  mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, used) = next() {
      pending.removeFirst(used)
      if let key { keys.append(key) }
    }
    if pending.count > 64 { pending = [] }  // no key is as long
    return keys
  }

  /// Nothing follows: a lone escape was the Escape key.
  mutating func flush() -> [Key] {
    defer { pending = [] }
    return pending == [0x1B] ? [.escape] : []
  }

  /// The first key in `pending` and its length; a nil key is a sequence without meaning. nil: more must come.
  private func next() -> (Key?, Int)? {
    guard let first = pending.first else { return nil }
    switch first {
    case 0x1B: return sequence()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x00: return (nil, 1)
    case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
    case 0x1C...0x1F: return (nil, 1)
    default: return text(first)
    }
  }

  private func text(_ first: UInt8) -> (Key?, Int)? {
    let length =
      switch first {
      case 0..<0x80: 1
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 0  // no UTF-8 begins so
      }
    guard length > 0 else { return (nil, 1) }
    guard pending.count >= length else { return nil }
    guard let text = String(validating: pending.prefix(length), as: UTF8.self), let character = text.first else {
      return (nil, 1)
    }
    return (.character(character), length)
  }

  private func sequence() -> (Key?, Int)? {
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case 0x5B:  // CSI: parameters, intermediates, one final byte
      guard let end = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
      let parameters = String(decoding: pending[2..<end], as: UTF8.self)
      return (Self.csi(pending[end], parameters), end + 1)
    case 0x4F:  // SS3
      guard pending.count > 2 else { return nil }
      return (Self.csi(pending[2], ""), 3)
    case 0x1B: return (.escape, 1)
    default: return (nil, 2)  // Alt with a key
    }
  }

  private static func csi(_ final: UInt8, _ parameters: String) -> Key? {
    switch (Character(Unicode.Scalar(final)), parameters.split(separator: ";").first ?? "") {
    case ("A", _): .up
    case ("B", _): .down
    case ("C", _): .right
    case ("D", _): .left
    case ("H", _), ("~", "1"), ("~", "7"): .home
    case ("F", _), ("~", "4"), ("~", "8"): .end
    case ("Z", _): .backTab
    case ("~", "3"): .delete
    case ("~", "5"): .pageUp
    case ("~", "6"): .pageDown
    default: nil
    }
  }
}
