import Basics
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The keys of a terminal as they are pressed. An escape that nothing follows for 50 ms is the Escape key: over ssh the
/// bytes of one sequence may come in two packets, but not so far apart.
final class TerminalKeys: @unchecked Sendable {  // `queue` guards the reader, all else is constant
  /// For one reader; ends when the terminal goes, and with `stop`.
  let keys: AsyncStream<Key>

  private let sink: AsyncStream<Key>.Continuation
  private let source: any DispatchSourceRead
  private let queue = DispatchQueue(label: "belfry.keys")
  private var reader = KeyReader()
  private var chunks = 0

  init(_ descriptor: Int32 = 0) {
    (keys, sink) = AsyncStream<Key>.makeStream()
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [weak self] in self?.take(descriptor) }
    source.resume()
  }

  func stop() { source.cancel() }

  private func take(_ descriptor: Int32) {
    var chunk = [UInt8](repeating: 0, count: 1024)
    let count = read(descriptor, &chunk, chunk.count)
    guard count > 0 else {
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      source.cancel()
      return sink.finish()
    }
    for key in reader.read(chunk[..<count]) { sink.yield(key) }
    chunks += 1
    guard reader.isWaiting else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(50)) { [weak self, chunks] in self?.flush(chunks) }
  }

  /// Nothing came since then.
  private func flush(_ number: Int) {
    guard chunks == number else { return }
    for key in reader.flush() { sink.yield(key) }
  }
}
