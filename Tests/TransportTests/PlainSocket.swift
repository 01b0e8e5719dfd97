import Foundation
import Transport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A blocking client socket that sends exactly the bytes a test wants on the wire. Use it within `onThread`.
final class PlainSocket {
  let descriptor: Int32
  private var unread: [UInt8] = []

  init(_ endpoint: Endpoint, patience: Int = 10) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = endpoint.port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else { throw SocketError(code: errno) }  // `deinit` closes: every property is set
  }

  deinit { close(descriptor) }

  struct SocketError: Error { var code: Int32 }

  /// False once the other end has gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  struct Answer: Equatable {
    var status: Int
    var headers: [String: String]
    var body: String
  }

  /// The next whole answer; nil when the connection ended, or nothing came in time, before it was whole.
  func readAnswer(toHEAD: Bool = false) -> Answer? {
    guard let head = readHead() else { return nil }
    let lines = head.components(separatedBy: "\r\n")
    let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
    var headers: [String: String] = [:]
    for line in lines.dropFirst() where !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = toHEAD ? 0 : Int(headers["content-length"] ?? "") ?? 0
    while unread.count < length { if !readMore() { return nil } }
    defer { unread.removeFirst(length) }
    return Answer(status: status, headers: headers, body: String(decoding: unread[..<length], as: UTF8.self))
  }

  private func readHead() -> String? {
    while true {
      if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
        defer { unread.removeFirst(end.upperBound) }
        return String(decoding: unread[..<end.lowerBound], as: UTF8.self)
      }
      if !readMore() { return nil }
    }
  }

  /// What comes next, at least one byte; empty at the end.
  func readSome() -> [UInt8] {
    if unread.isEmpty { _ = readMore() }
    defer { unread = [] }
    return unread
  }

  /// True once the other end has closed; does not wait.
  var hasEnded: Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN)
  }

  /// True if the other end closes (rather than falls silent) before the patience ends.
  func isClosedByPeer() -> Bool {
    while true {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return true }
      if count < 0 { return errno == ECONNRESET || errno == EPIPE }
    }
  }

  private func readMore() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    unread += buffer[..<count]
    return true
  }
}

/// Runs what blocks on a thread of its own, so that the few threads of Swift's pool stay free for the server.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}
