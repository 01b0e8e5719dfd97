#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How often `body` runs in a second of one core: counted by the calling thread's own time on the processor, so that what
/// else the machine does takes little part. The clock is read between batches, not between runs.
func ratePerCore(of batch: Int, for seconds: Double, _ body: () -> Void) -> Double {
  let start = threadSeconds()
  var done = 0
  var passed = 0.0
  repeat {
    for _ in 0..<batch { body() }
    done += batch
    passed = threadSeconds() - start
  } while passed < seconds
  return Double(done) / passed
}

private func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
