import Basics

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the address of a webhook, and its list of events, must be.
public enum WebhookRule {
  public static func check(url: String, at place: String) throws(RequestFault) {
    let rest = url.hasPrefix("https://") ? url.dropFirst(8) : url.hasPrefix("http://") ? url.dropFirst(7) : ""
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@"), !url.contains("#") else {
      throw RequestFault(
        .invalidParameter, at: place, found: "a password or a fragment in the URL",
        remedy: "Leave it out: the signature says who calls.")
    }
    let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isHost(authority), isPlain, url.utf8.count <= 2000 else {
      throw RequestFault(
        .invalidParameter, at: place, found: "\(quoted(url)) is no address to post to",
        remedy: "Give an https:// or http:// URL in ASCII, with a name or an IP address, at most 2,000 bytes.")
    }
  }

  /// A name, an IPv4 address or one of IPv6 in brackets, and a port if need be.
  private static func isHost(_ authority: Substring) -> Bool {
    let end = authority.first == "[" ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
    let host = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
    let rest = authority[host.endIndex...]
    let isKnown =
      end == nil
      ? !host.isEmpty && host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
      : isIPv6(host.dropFirst().dropLast())
    guard isKnown, !rest.isEmpty else { return isKnown }
    let port = rest.dropFirst()
    return rest.first == ":" && port.utf8.allSatisfy { 0x30...0x39 ~= $0 } && 1...65_535 ~= Int(port) ?? 0
  }

  /// Without a zone, which means something on one machine alone.
  private static func isIPv6(_ text: Substring) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET6, String(text), &address) == 1
  }

  static func check(_ events: Set<WebhookEvent>) throws(RequestFault) {
    guard events.isEmpty else { return }
    throw RequestFault(
      .invalidParameter, at: "events", found: "no event",
      remedy: "Name some of \(WebhookEvent.allCases.map(\.rawValue).joined(separator: ", ")).")
  }
}
