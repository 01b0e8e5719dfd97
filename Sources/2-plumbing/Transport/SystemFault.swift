import CLibuv

extension TransportFault {
  /// What libuv's error numbers mean to someone who listens or connects.
  init(system code: Int32, at place: String, doing: String) {
    let words = uvMessage(code)
    switch uv_errno_t(code) {
    case UV_EADDRINUSE:
      self.init(
        .addressInUse, at: place, what: "the port is already in use",
        remedy: "Stop the program that listens there, or choose another port (0 takes a free one).")
    case UV_EADDRNOTAVAIL:
      self.init(
        .addressNotAvailable, at: place, what: "this machine has no such address",
        remedy: "Use 127.0.0.1 for this machine only, or 0.0.0.0 for all of its addresses.")
    case UV_EACCES, UV_EPERM:
      self.init(
        .permissionDenied, at: place, what: "the system does not allow \(doing) here",
        remedy: "Use a port above 1023, or run with the rights to use this one.")
    case UV_ECONNREFUSED:
      self.init(
        .connectionRefused, at: place, what: "nobody listens there (connection refused)",
        remedy: "Check host and port, and that the server runs.")
    case UV_EHOSTUNREACH, UV_ENETUNREACH, UV_ENETDOWN:
      self.init(
        .unreachable, at: place, what: "there is no way to that address (\(words))",
        remedy: "Check the network and the firewall.")
    case UV_ETIMEDOUT:
      self.init(
        .timedOut(.connecting), at: place, what: "the peer did not answer",
        remedy: "Check the network and the firewall.")
    case UV_EMFILE, UV_ENFILE:
      self.init(
        .outOfDescriptors, at: place, what: "no file descriptors are left",
        remedy: "Raise the limit (ulimit -n) or use fewer connections.")
    case UV_ECONNRESET, UV_EPIPE, UV_ECONNABORTED:
      self.init(
        .connectionLost, at: place, what: "the peer reset the connection",
        remedy: "Try again; if it repeats, see the peer's log.")
    case UV_EAI_NONAME, UV_EAI_NODATA, UV_EAI_AGAIN, UV_EAI_FAIL, UV_EAI_ADDRFAMILY:
      self.init(
        .nameNotFound, at: place, what: "the host name has no address (\(words))",
        remedy: "Check the spelling and the name server.")
    default:
      self.init(.system, at: place, what: "\(doing) failed (\(words))", remedy: "See what the system says of it.")
    }
  }
}
