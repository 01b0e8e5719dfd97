import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A pseudo-terminal with a `belfry` on it, and what a person would see: a grid of characters that obeys the sequences of
/// VT and xterm which belfry writes.
final class PseudoTerminal: @unchecked Sendable {  // `lock` guards the screen
  private let master: Int32
  private let slave: Int32
  private let process = Process()
  private let lock = NSLock()
  private var grid: TerminalGrid
  private let kept: AnyObject

  init(
    _ words: [String], columns: UInt16, rows: UInt16, environment: [String: String], keep kept: AnyObject
  ) throws {
    self.kept = kept
    (master, slave) = try Self.pair()
    grid = TerminalGrid(columns: Int(columns), rows: Int(rows))
    setSize(columns, rows)
    process.executableURL = BelfryProcess.binary
    process.arguments = words
    process.environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("BELFRY_") && $0.key != "NO_COLOR"
    }
    .merging(environment) { $1 }
    let terminal = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    try process.run()
    Thread.detachNewThread { [weak self, master] in
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(master, &chunk, chunk.count)
        guard count > 0, let self else { return }
        lock.withLock { grid.take(chunk[..<count]) }
      }
    }
  }

  /// Both ends of a new pseudo-terminal.
  private static func pair() throws -> (Int32, Int32) {
    let fault = ProcessFault(words: "there is no pseudo-terminal to be had")
    #if os(Linux)  // Glibc's own functions for it are not seen by Swift
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (isLocked, number) = (Int32(0), Int32(0))
      guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
        throw fault
      }
      let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    #else
      let master = posix_openpt(O_RDWR | O_NOCTTY)
      guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else { throw fault }
      let slave = open(name, O_RDWR | O_NOCTTY)
    #endif
    guard slave >= 0 else { throw fault }
    return (master, slave)
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    close(slave)
    close(master)
  }

  private func setSize(_ columns: UInt16, _ rows: UInt16) {
    var size = winsize()
    size.ws_col = columns
    size.ws_row = rows
    _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
  }

  func resize(_ columns: UInt16, _ rows: UInt16) {
    lock.withLock { grid.resize(Int(columns), Int(rows)) }
    setSize(columns, rows)
    kill(process.processIdentifier, SIGWINCH)  // the kernel sends it to a controlling terminal's processes only
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(master, bytes, bytes.count)
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// As `ps` tells it.
  var isStopped: Bool {
    let pipe = Pipe()
    let ps = Process()
    ps.executableURL = URL(filePath: "/bin/ps")
    ps.arguments = ["-o", "stat=", "-p", "\(process.processIdentifier)"]
    ps.standardOutput = pipe
    guard (try? ps.run()) != nil else { return false }
    return pipe.fileHandleForReading.readDataToEndOfFile().first == UInt8(ascii: "T")
  }

  var text: String { lock.withLock { grid.text } }
  var isAlternate: Bool { lock.withLock { grid.isAlternate } }
  var isCursorShown: Bool { lock.withLock { grid.isCursorShown } }
  /// Whether any colour was ever written.
  var colours: Bool { lock.withLock { grid.hasSeenColour } }

  /// The line discipline's flags, as numbers that compare.
  var attributes: [UInt32] {
    var attributes = termios()
    tcgetattr(slave, &attributes)
    return [attributes.c_iflag, attributes.c_oflag, attributes.c_cflag, attributes.c_lflag].map { UInt32($0) }
  }

  /// Keys come one by one, unechoed.
  var isRaw: Bool {
    var attributes = termios()
    tcgetattr(slave, &attributes)
    return attributes.c_lflag & tcflag_t(ICANON | ECHO) == 0
  }

  func shows(_ words: String) async throws {
    try await waits("the screen shows “\(words)”") { $0.text.contains(words) }
  }

  func waits(_ what: String, within seconds: Double = 30, until condition: (PseudoTerminal) -> Bool) async throws {
    let deadline = Date().addingTimeInterval(seconds)
    while !condition(self) {
      if Date() > deadline { throw ProcessFault(words: "never: \(what)\n\(text)") }
      try await Task.sleep(nanoseconds: 5_000_000)
    }
  }

  /// Waits for the end and answers the exit status; a process ended by signal n answers −n.
  func end() async throws -> Int32 {
    try await waits("the process ends") { !$0.process.isRunning }
    try await waits("the terminal is left") { !$0.isAlternate }
    return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
  }
}

/// The part of a VT that belfry's drawing uses. What it does not know it refuses loudly, by a character in the grid.
struct TerminalGrid {
  private var cells: [[Character]]
  private var row = 0
  private var column = 0
  private var pending: [UInt8] = []
  private(set) var isAlternate = false
  private(set) var isCursorShown = true
  private(set) var hasSeenColour = false

  init(columns: Int, rows: Int) {
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  mutating func resize(_ columns: Int, _ rows: Int) {
    self.cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// The second half of a wide character is an empty cell.
  var text: String {
    cells.map { row in String(row.filter { $0 != "\0" }) }.joined(separator: "\n")
  }

  mutating func take(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    while let used = step() { pending.removeFirst(used) }
  }

  private mutating func step() -> Int? {
    guard let first = pending.first else { return nil }
    if first == 0x1B {
      guard pending.count > 1 else { return nil }
      guard pending[1] == 0x5B else {
        put("¿")
        return 2
      }
      guard let end = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
      obey(Character(Unicode.Scalar(pending[end])), String(decoding: pending[2..<end], as: UTF8.self))
      return end + 1
    }
    if first == 0x0D || first == 0x0A {
      if first == 0x0A { row += 1 } else { column = 0 }
      return 1
    }
    // up to the next control byte, as far as the characters are whole
    let end = pending.firstIndex { $0 < 0x20 } ?? pending.count
    var length = end
    if end == pending.count {
      while length > 0, String(validating: pending[..<length], as: UTF8.self) == nil { length -= 1 }
      if length == 0 { return nil }
    }
    for character in String(decoding: pending[..<length], as: UTF8.self) { put(character) }
    return length
  }

  private mutating func put(_ character: Character) {
    guard cells.indices.contains(row), cells[row].indices.contains(column) else { return }
    cells[row][column] = character
    let value = character.unicodeScalars.first?.value ?? 0
    let isWide = (0x4E00...0x9FFF).contains(value) || (0x1F300...0x1FAFF).contains(value)
    column += 1
    guard isWide, cells[row].indices.contains(column) else { return }
    cells[row][column] = "\0"
    column += 1
  }

  private mutating func obey(_ command: Character, _ parameters: String) {
    let numbers = parameters.split(separator: ";").map { Int($0) ?? 0 }
    switch (command, parameters) {
    case ("H", _): (row, column) = ((numbers.first ?? 1) - 1, (numbers.count > 1 ? numbers[1] : 1) - 1)
    case ("G", _): column = (numbers.first ?? 1) - 1
    case ("K", ""):
      guard cells.indices.contains(row) else { return }
      for place in cells[row].indices where place >= column { cells[row][place] = " " }
    case ("J", "2"): cells = cells.map { $0.map { _ in " " } }
    case ("m", _):
      if numbers.contains(where: { (30...37).contains($0) || (90...97).contains($0) }) { hasSeenColour = true }
    case ("h", "?1049"): isAlternate = true
    case ("l", "?1049"): isAlternate = false
    case ("h", "?25"): isCursorShown = true
    case ("l", "?25"): isCursorShown = false
    case ("h", "?7"), ("l", "?7"): break
    default: put("¿")
    }
  }
}
