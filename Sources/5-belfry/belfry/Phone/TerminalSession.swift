import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A terminal taken over for drawing: raw keys, the alternate screen, no cursor; and given back as it was by `end`, by
/// the process's end, and as far as POSIX lets a handler do so when a signal or a fault ends the process. One in a
/// process.
final class TerminalSession: Sendable {
  private let input: Int32
  private let output: Int32
  private let drawn = Locked(Drawn())

  private struct Drawn {
    var lines: [String] = []
    var size = TerminalSize(columns: 0, rows: 0)
  }

  /// nil when one of the two is no terminal, or none to draw on.
  init?(input: Int32 = 0, output: Int32 = 1) {
    guard isatty(input) == 1, Terminal.isDrawable(output) else { return nil }
    var before = termios()
    guard tcgetattr(input, &before) == 0 else { return nil }
    self.input = input
    self.output = output
    terminalToRestore = .init(descriptor: input, output: output, attributes: before)
    atexit { restoreTerminal() }
    // what ends a process by a fault or from outside, without a chance to clean up; SIGINT, SIGTERM and SIGHUP are the
    // command's own
    for number in [SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP] { signal(number, restoreAndDie) }
    enter()
  }

  /// The keys raw and the alternate screen on; also after the process was stopped and goes on.
  func enter() {
    guard let saved = terminalToRestore else { return }
    var raw = saved.attributes
    cfmakeraw(&raw)
    raw.c_oflag |= tcflag_t(OPOST)  // a line that some library prints stays readable
    tcsetattr(input, TCSAFLUSH, &raw)
    isTerminalTaken = true
    Terminal.write(Self.enterSequence, to: output)
    drawn.withLock { $0 = Drawn() }
  }

  func end() { restoreTerminal() }

  /// Gives the terminal back, stops the process as Ctrl-Z does, and takes it again when it goes on.
  func suspend() {
    restoreTerminal()
    raise(SIGSTOP)
    enter()
  }

  var size: TerminalSize {
    var window = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
      return TerminalSize(columns: 80, rows: 24)
    }
    return TerminalSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }

  /// Shows these lines, writing only those that changed. Over a slow line that is what keeps it quick.
  func show(_ frame: [StyledLine], size: TerminalSize, colours: Bool) {
    let lines = frame.map { $0.ansi(colours: colours, placed: true) }
    let text = drawn.withLock { drawn in
      var text = ""
      if drawn.size != size { text += "\u{1B}[0m\u{1B}[2J" }
      for (row, line) in lines.enumerated()
      where drawn.size != size || row >= drawn.lines.count || drawn.lines[row] != line {
        // erased first: behind the last column the cursor stays on it
        text += "\u{1B}[\(row + 1);1H\u{1B}[K\(line)"
      }
      drawn = Drawn(lines: lines, size: size)
      return text
    }
    if !text.isEmpty { Terminal.write(text, to: output) }
  }

  /// Alternate screen with a saved cursor, no cursor, no wrapping at the margin (xterm 1049, DECTCEM, DECAWM).
  private static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
}

private struct TerminalToRestore {
  var descriptor: Int32
  var output: Int32
  var attributes: termios
}

nonisolated(unsafe) private var terminalToRestore: TerminalToRestore?  // written once, before any handler stands
nonisolated(unsafe) private var isTerminalTaken = false  // a flag that handlers read; written by the one session
nonisolated(unsafe) private let leaveSequence = strdup("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")  // never changed
private let leaveLength = leaveSequence.map { strlen($0) } ?? 0

/// Only what POSIX allows in a signal handler.
private func restoreTerminal() {
  guard isTerminalTaken, var saved = terminalToRestore else { return }
  isTerminalTaken = false
  if let leaveSequence { _ = write(saved.output, leaveSequence, leaveLength) }
  tcsetattr(saved.descriptor, TCSAFLUSH, &saved.attributes)
}

private func restoreAndDie(_ number: Int32) {
  restoreTerminal()
  signal(number, SIG_DFL)
  raise(number)
}
