import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How somebody outside tells a running command to end (Ctrl-C, `kill`) or to read its files again (`kill -HUP`). Made
/// before the command says that it listens: from then on no signal is lost, and none ends the process by default. One in a
/// process. (A signal source of Dispatch stands some time after `resume` only, so a pipe of our own holds what came.)
final class ProcessSignals: @unchecked Sendable {  // constants, made in `init`
  private let ends: AsyncStream<Void>
  /// One for each SIGHUP, at most one waiting; for one reader.
  let hangups: AsyncStream<Void>
  /// Those of `watched`, by number, as they come; for one reader.
  let others: AsyncStream<Int32>
  private let source: any DispatchSourceRead

  /// - Parameter rereads: whether SIGHUP means to read files again; else it ends the process, as it does by default.
  /// - Parameter watched: signals that mean something else than an end, such as SIGWINCH.
  init(rereads: Bool = false, watched: [Int32] = []) {
    let (ends, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (hangups, hangup) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (others, other) = AsyncStream<Int32>.makeStream(bufferingPolicy: .bufferingNewest(16))
    var ports: [Int32] = [-1, -1]
    pipe(&ports)
    for port in ports {
      _ = fcntl(port, F_SETFL, O_NONBLOCK)
      _ = fcntl(port, F_SETFD, FD_CLOEXEC)
    }
    source = DispatchSource.makeReadSource(fileDescriptor: ports[0], queue: DispatchQueue(label: "belfry.signals"))
    source.setEventHandler {
      var byte: UInt8 = 0
      while read(ports[0], &byte, 1) == 1 {
        let number = Int32(byte)
        if watched.contains(number) {
          other.yield(number)
        } else if number == SIGHUP {
          hangup.yield()
        } else {
          end.yield()
        }
      }
    }
    source.resume()
    signalPort = ports[1]
    for number in [SIGINT, SIGTERM] + (rereads ? [SIGHUP] : []) + watched { signal(number, noteSignal) }
    self.ends = ends
    self.hangups = hangups
    self.others = others
  }

  /// Waits for SIGINT or SIGTERM, which may have come already; a second one then ends the process at once.
  func end() async {
    for await _ in ends { break }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}

/// Where `noteSignal` writes; set before it is installed, and never after.
nonisolated(unsafe) private var signalPort: Int32 = -1  // written once, before any handler stands

/// The handler: only what POSIX allows in one.
private func noteSignal(_ number: Int32) {
  let before = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPort, &byte, 1)
  errno = before
}
