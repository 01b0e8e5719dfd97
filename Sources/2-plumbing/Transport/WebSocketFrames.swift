internal import CWslay

/// The other side broke RFC 6455, or sent more than we take: the code to close with and why.
struct WebSocketViolation: Error, Hashable {
  var code: UInt16
  var reason: String
}

/// Takes the bytes of one peer apart into messages, by wslay's frame interface. On one thread; holds at most one
/// message of `maximumMessage` bytes.
final class WebSocketReader {
  enum Event: Hashable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    /// `code` is 1005 when the peer gave none.
    case close(code: UInt16, reason: String)
  }

  private enum Opcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool {
      switch self {
      case .continuation, .text, .binary: false
      case .close, .ping, .pong: true
      }
    }
  }

  private let context: OpaquePointer
  private let input: UnsafeMutablePointer<UnsafeRawBufferPointer>
  private let expectsMask: Bool
  private let maximumMessage: Int
  private var message: [UInt8] = []
  private var messageKind: Opcode?
  private var text = UTF8Progress()
  private var control: [UInt8] = []
  /// Payload bytes of the frame in progress that are in already.
  private var received: UInt64 = 0
  /// Bytes that were given, less those of frames that are complete.
  private var unfinished = 0
  private var isOver = false

  /// `expectsMask`: we are the server, and clients mask (RFC 6455 §5.1).
  init(expectsMask: Bool, maximumMessage: Int) {
    self.expectsMask = expectsMask
    self.maximumMessage = maximumMessage
    input = .allocate(capacity: 1)
    input.initialize(to: UnsafeRawBufferPointer(start: nil, count: 0))
    var made: OpaquePointer?
    var callbacks = wslay_frame_callbacks()
    callbacks.recv_callback = webSocketReaderReceive
    let result = wslay_frame_context_init(&made, &callbacks, input)
    guard result == 0, let made else { preconditionFailure("no memory for a WebSocket") }
    context = made
  }

  deinit {
    wslay_frame_context_free(context)
    input.deallocate()
  }

  /// Nothing is under way, neither a frame nor a message of several: it may as well read for another peer.
  var isAtRest: Bool { unfinished == 0 && messageKind == nil && !isOver }

  /// Takes bytes as they came, and gives what they completed, in order, also before a violation. After a violation, and
  /// after a close, nothing more is read.
  func read(_ bytes: UnsafeRawBufferPointer, _ take: (Event) -> Void) throws(WebSocketViolation) {
    guard !isOver else { return }
    input.pointee = bytes
    unfinished += bytes.count
    defer { input.pointee = UnsafeRawBufferPointer(start: nil, count: 0) }
    while true {
      var frame = wslay_frame_iocb()
      let count = wslay_frame_recv(context, &frame)
      if count == Int(WSLAY_ERR_WANT_READ.rawValue) { return }
      guard count >= 0 else {
        throw violation(1002, "a frame that RFC 6455 does not allow")
      }
      let opcode = try check(frame)
      let part = UnsafeBufferPointer(start: frame.data, count: frame.data_length)
      if opcode.isControl {
        control.append(contentsOf: part)
      } else {
        guard message.count + part.count <= maximumMessage, frame.payload_length <= UInt64(maximumMessage) else {
          throw violation(1009, "a message may have \(maximumMessage) bytes")
        }
        if messageKind == .text, !text.take(part) { throw violation(1007, "a text message is not UTF-8") }
        message.append(contentsOf: part)
      }
      received += UInt64(part.count)
      guard received == frame.payload_length else { continue }
      received = 0
      unfinished -= frame.wholeLength
      if let event = try finish(opcode, isFinal: frame.fin == 1) {
        take(event)
        if case .close = event {
          isOver = true
          return
        }
      }
    }
  }

  private func violation(_ code: UInt16, _ reason: String) -> WebSocketViolation {
    isOver = true
    return WebSocketViolation(code: code, reason: reason)
  }

  private func check(_ frame: wslay_frame_iocb) throws(WebSocketViolation) -> Opcode {
    guard frame.rsv == 0 else { throw violation(1002, "a reserved bit is set") }
    guard let opcode = Opcode(rawValue: frame.opcode) else {
      throw violation(1002, "opcode \(frame.opcode) is not known")
    }
    guard (frame.mask == 1) == expectsMask else {
      throw violation(1002, expectsMask ? "a client must mask" : "a server must not mask")
    }
    switch opcode {
    case .text, .binary:
      if received == 0, messageKind != nil, message.isEmpty == false || isInsideFragments {
        throw violation(1002, "a message began inside another")
      }
      messageKind = opcode
    case .continuation:
      guard messageKind != nil else { throw violation(1002, "nothing to continue") }
    case .close, .ping, .pong: break
    }
    return opcode
  }

  /// Between the first and the last frame of a fragmented message.
  private var isInsideFragments = false

  private func finish(_ opcode: Opcode, isFinal: Bool) throws(WebSocketViolation) -> Event? {
    switch opcode {
    case .ping:
      defer { control = [] }
      return .ping(control)
    case .pong:
      defer { control = [] }
      return .pong(control)
    case .close:
      defer { control = [] }
      return try close(control)
    case .continuation, .text, .binary:
      isInsideFragments = !isFinal
      guard isFinal, let kind = messageKind else { return nil }
      var whole: [UInt8] = []
      swap(&whole, &message)
      messageKind = nil
      guard kind == .text else { return .binary(whole) }
      guard text.isWhole else { throw violation(1007, "a text message ends within a character") }
      text = UTF8Progress()
      return .text(String(decoding: whole, as: UTF8.self))
    }
  }

  private func close(_ payload: [UInt8]) throws(WebSocketViolation) -> Event {
    guard payload.count >= 2 else {
      guard payload.isEmpty else { throw violation(1002, "half a close code") }
      return .close(code: 1005, reason: "")
    }
    let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: break
    default: throw violation(1002, "close code \(code) may not be sent")
    }
    guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
      throw violation(1007, "a close reason is not UTF-8")
    }
    return .close(code: code, reason: reason)
  }
}

extension wslay_frame_iocb {
  /// Bytes of header and payload. wslay takes lengths in their shortest form only.
  fileprivate var wholeLength: Int {
    let length = Int(clamping: payload_length)
    return 2 + (length < 126 ? 0 : length < 65_536 ? 2 : 8) + (mask == 1 ? 4 : 0) + length
  }
}

/// wslay asks for bytes: gives from the piece at hand.
private func webSocketReaderReceive(
  _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int, _ flags: Int32, _ user: UnsafeMutableRawPointer?
) -> Int {
  guard let buffer, let user else { return -1 }
  let input = user.assumingMemoryBound(to: UnsafeRawBufferPointer.self)
  let count = min(length, input.pointee.count)
  guard count > 0, let start = input.pointee.baseAddress else { return -1 }
  UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: count)
  input.pointee = UnsafeRawBufferPointer(rebasing: input.pointee.dropFirst(count))
  return count
}

/// One frame with everything in it (RFC 6455 §5.2): ours are never fragmented.
enum WebSocketWriter {
  enum Kind: UInt8 {
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10
  }

  /// `mask` is what a client needs; a server gives nil.
  static func frame(_ kind: Kind, _ payload: some Collection<UInt8>, mask: UInt32?) -> [UInt8] {
    var frame: [UInt8] = [0x80 | kind.rawValue]
    frame.reserveCapacity(payload.count + 14)
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: frame.append(maskBit | UInt8(payload.count))
    case ..<65_536:
      frame += [maskBit | 126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
    default:
      frame.append(maskBit | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        frame.append(UInt8(truncatingIfNeeded: payload.count >> shift))
      }
    }
    guard let mask else { return frame + payload }
    let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> UInt32(24 - 8 * $0)) }
    frame += key
    for (place, byte) in payload.enumerated() { frame.append(byte ^ key[place & 3]) }
    return frame
  }

  static func close(code: UInt16, reason: String, mask: UInt32?) -> [UInt8] {
    guard code != 1005 else { return frame(.close, [], mask: mask) }
    var cut = reason
    while cut.utf8.count > 123 { cut.removeLast() }
    return frame(.close, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + Array(cut.utf8), mask: mask)
  }
}
