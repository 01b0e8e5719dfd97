import Basics
import CLibuv

/// Bytes out: sealed, handed to the system, and kept while it or a cap takes no more.
extension StreamConnection {
  /// Sends or keeps the bytes; at most one batch (64 KiB is best: one TLS write, one system call). False: the peer does
  /// not take them as fast; write no more until `writable()`, or what waits grows in memory.
  @discardableResult
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard state == .open, !bytes.isEmpty, conduct == .usual else { return state == .open && isWritable }
    if let tls {
      switch tls.write(bytes) {
      case .progress: sendSealed()
      case .needsInput, .ended, .failed:
        loop.sealed.clear()
        let what = "TLS broke while writing (\(OpenSSLErrors.take().text))"
        abort(TransportFault(.connectionLost, at: place, what: what, remedy: "Try again."))
      }
    } else {
      send(bytes)
    }
    if !isWritable { owesWritable = true }
    return isWritable
  }

  /// `writable()` comes once all has left.
  func tellWhenWritable() { owesWritable = true }

  func sendSealed() {
    guard loop.sealed.count > 0 else { return }
    send(loop.sealed.bytes)
    loop.sealed.clear()
  }

  func send(_ bytes: UnsafeRawBufferPointer) {
    guard inFlight == nil, pace == nil else {
      waiting.append(contentsOf: bytes)
      return pump()
    }
    transmit(bytes)
  }

  /// Sends of what waits as much as may leave now.
  func pump() {
    guard inFlight == nil, !waiting.isEmpty, state != .closed else { return }
    let count = paceOutput(waiting.count)
    guard count > 0 else { return }
    let bytes = waiting
    waiting = Array(bytes[count...])
    bytes[..<count].withUnsafeBytes { transmit($0) }
    if inFlight == nil, waiting.isEmpty { allSent() }
  }

  private func transmit(_ bytes: UnsafeRawBufferPointer) {
    guard let tcp, state != .closed else { return }
    let stream = UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress!).assumingMemoryBound(to: CChar.self)
    var whole = uv_buf_init(start, UInt32(clamping: bytes.count))
    let sent = uv_try_write(stream, &whole, 1)
    if sent == bytes.count { return }
    guard sent >= 0 || sent == UV_EAGAIN.rawValue else {
      return abort(TransportFault(system: sent, at: place, doing: "writing"))
    }
    startWrite(UnsafeRawBufferPointer(rebasing: bytes[max(0, Int(sent))...]))
  }

  private func startWrite(_ bytes: UnsafeRawBufferPointer) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyMemory(from: bytes)
    inFlight = copy
    let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var buffer = uv_buf_init(copy.baseAddress!.assumingMemoryBound(to: CChar.self), UInt32(clamping: copy.count))
    let stream = UnsafeMutableRawPointer(tcp!).assumingMemoryBound(to: uv_stream_t.self)
    let started = uv_write(request, stream, &buffer, 1) { request, status in
      let stream = Unmanaged<StreamConnection>.fromOpaque(request!.pointee.data).takeRetainedValue()
      request!.deallocate()
      stream.writeEnded(status)
    }
    guard started == 0 else {
      Unmanaged<StreamConnection>.fromOpaque(request.pointee.data).release()
      request.deallocate()
      return writeEnded(started)
    }
    lastQueueSize = copy.count
    writeDeadline = loop.later(limits.writeTimeout)
    checkTime(at: writeDeadline)
  }

  private func writeEnded(_ status: Int32) {
    inFlight?.deallocate()
    inFlight = nil
    writeDeadline = .max
    guard state != .closed else { return }
    guard status == 0 else { return abort(TransportFault(system: status, at: place, doing: "writing")) }
    guard waiting.isEmpty else { return pump() }
    allSent()
  }

  private func allSent() {
    guard state != .closed else { return }
    if state == .closing { return linger() }
    if owesWritable {
      owesWritable = false
      handler?.writable()
    }
  }
}
