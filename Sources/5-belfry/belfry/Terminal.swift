import Basics
import PushPayload

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The process's own outputs, written through descriptors so that order and completeness do not depend on buffers.
enum Terminal {
  /// Writes the text and a newline to standard output; false when the reader has gone.
  @discardableResult
  static func print(_ text: String) -> Bool { write(text + "\n", to: 1) }

  /// Whether something for standard output was not taken though somebody wants it, as on a full disk; a reader that has
  /// seen enough and gone is no such case.
  static var hasLostOutput: Bool { lost.withLock { $0 } }

  private static let lost = Locked(false)

  /// To standard error.
  static func complain(_ text: String) { write(text + "\n", to: 2) }

  /// Whether a person looks at the descriptor by something that moves its cursor: not so with TERM=dumb, as in an editor's
  /// shell.
  static func isDrawable(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
  }

  static var wantsColour: Bool { isDrawable(1) && getenv("NO_COLOR") == nil }

  @discardableResult
  static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var sent = 0
      while sent < bytes.count {
        #if canImport(Glibc)
          let count = Glibc.write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
        #else
          let count = Darwin.write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
        #endif
        if count < 0 {
          if errno == EINTR { continue }
          if descriptor == 1, errno != EPIPE { lost.withLock { $0 = true } }
          return false
        }
        sent += count
      }
      return true
    }
  }
}

/// A JSON string literal.
func quoted(_ text: String) -> String { JSONValue.string(text).text }

extension Terminal {
  /// Whether standard input is a person's.
  static var isAnswering: Bool { isatty(0) == 1 }
}
