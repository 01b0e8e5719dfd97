import Basics
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The socket by which verbs reach a running phone, and the lock that makes its name the phone's own. A phone that was
/// killed leaves both behind; the lock of the dead is open, so its name is free and its socket is replaced.
final class PhoneDoor: @unchecked Sendable {  // constants, made in `init`
  typealias Answerer = @Sendable (PhoneLine.Request, @escaping @Sendable (PhoneLine.Reply) -> Bool) async -> Void

  private let lock: Int32
  private let socket: LocalSocket
  private let path: String
  private let source: any DispatchSourceRead

  /// Throws when a phone of that identifier runs already.
  init(_ folder: PhoneFolder, udid: String, name: String, answer: @escaping Answerer) throws(CommandFault) {
    path = folder.socket(of: udid)
    let lockPath = folder.lock(of: udid)
    lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw CommandFault("\(lockPath) cannot be written: \(String(cString: strerror(errno)))") }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      close(lock)
      throw CommandFault("a phone named \"\(name)\" runs already; --name gives this one another name")
    }
    do throws(CommandFault) { socket = try LocalSocket.listen(path) } catch {
      close(lock)
      throw error
    }
    source = DispatchSource.makeReadSource(
      fileDescriptor: socket.descriptor, queue: DispatchQueue(label: "belfry.phone.door"))
    let lines = DispatchQueue(label: "belfry.phone.lines", attributes: .concurrent)
    source.setEventHandler { [socket] in
      guard let caller = socket.accept(patience: 10) else { return }
      lines.async {
        var reader = LocalSocket.Reader(caller)
        guard let line = reader.next() else { return caller.end() }
        Task {
          do throws(CommandFault) {
            await answer(try PhoneLine.Request(line)) { caller.send($0.text) }
          } catch {
            _ = caller.send(PhoneLine.Reply.end(.usage, complaint: error.words).text)
          }
          caller.end()
        }
      }
    }
    source.resume()
  }

  /// Takes the socket away and opens the lock; its empty file stays, so that nobody locks one that is gone.
  func end() {
    source.cancel()
    unlink(path)
    socket.end()
    close(lock)
  }
}
