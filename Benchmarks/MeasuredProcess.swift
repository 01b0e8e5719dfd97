#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a process that runs has cost until now.
struct MeasuredProcess {
  let pid: pid_t

  /// User and system, since it began (Linux; 0 elsewhere).
  var cpuSeconds: Double {
    guard let text = try? contents(of: "/proc/\(pid)/stat") else { return 0 }
    // Behind the name, which may hold anything, in parentheses: the state is the third field, these the 14th and 15th.
    let fields = text[((text.lastIndex(of: UInt8(ascii: ")")) ?? 0) + 1)...].split(separator: UInt8(ascii: " "))
      .map { Double(String(decoding: $0, as: UTF8.self)) ?? 0 }
    return (fields[11] + fields[12]) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  enum Memory: String {
    case now = "VmRSS:"
    case most = "VmHWM:"
  }

  /// Resident, in MiB (Linux; 0 elsewhere).
  func memory(_ kind: Memory) -> Double {
    let line = (try? lines(of: "/proc/\(pid)/status"))?.first { $0.hasPrefix(kind.rawValue) }
    let words = line?.split { $0 == " " || $0 == "\t" } ?? []
    return words.count > 1 ? (Double(words[1]) ?? 0) / 1024 : 0
  }
}
