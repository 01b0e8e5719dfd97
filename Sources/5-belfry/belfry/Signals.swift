import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Waits until somebody ends the process in the usual ways (Ctrl-C, `kill`); a second signal ends it at once.
func waitForEnd() async {
  let (signals, sink) = AsyncStream<Int32>.makeStream()
  let queue = DispatchQueue(label: "belfry.signals")
  let sources = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
    source.setEventHandler { sink.yield(number) }
    source.resume()
    return source
  }
  for await _ in signals { break }
  for source in sources { source.cancel() }
  for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
}
