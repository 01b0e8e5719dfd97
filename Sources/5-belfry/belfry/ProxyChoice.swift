import Transport

/// Which proxy, if any, brings pushes to a server: what was set for Belfry (`none` for none), else what the environment
/// says to every program: `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`, the first that is set, except for this
/// machine and for what `no_proxy` or `NO_PROXY` names.
struct ProxyChoice: Equatable, Sendable {
  /// nil for none.
  var proxy: Proxy?
  /// Hosts that are reached without it; only where the environment chose the proxy.
  var exempt: String?
  var isOfEnvironment = false
  /// The variable, where the environment chose.
  var variable: String?

  /// - Parameter given: what was set for Belfry itself.
  init(_ given: String?, environment: [String: String]) throws(ProxyFault) {
    if let given, !given.isEmpty {
      proxy = given == "none" ? nil : try Proxy(given)
      return
    }
    isOfEnvironment = true
    guard
      let name = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].first(where: {
        environment[$0]?.isEmpty == false
      })
    else { return }
    variable = name
    do throws(ProxyFault) { proxy = try Proxy(environment[name] ?? "") } catch {
      throw ProxyFault(found: "variable \(name): \(error.found)")
    }
    exempt = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
  }

  /// For people: the address without the password, and who is exempt.
  var words: String {
    guard let proxy else { return "none" }
    return exempt.map { "\(proxy), not for \($0)" } ?? "\(proxy)"
  }

  func proxy(to server: Endpoint) -> Proxy? {
    guard let proxy, !(isOfEnvironment && Self.isExempt(server, exempt ?? "")) else { return nil }
    return proxy
  }

  /// `*`; a domain with or without a leading dot, which stands for itself and what is below it; an address in digits; each
  /// with a port if only that is meant; separated by commas or spaces. This machine is always exempt.
  static func isExempt(_ server: Endpoint, _ list: String) -> Bool {
    let host = server.host.lowercased()
    if ["localhost", "::1"].contains(host) || host.hasPrefix("127.") { return true }
    return list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains { entry in
      var name = entry.lowercased()
      if name == "*" { return true }
      if let endpoint = Endpoint(name) {
        guard endpoint.port == server.port else { return false }
        name = endpoint.host
      }
      if name.hasPrefix("[") && name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
      if name.hasPrefix("*.") { name.removeFirst() }
      if name.hasPrefix(".") { name.removeFirst() }
      return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
  }
}

extension ParsedCommand {
  /// By `--proxy`, else the environment.
  func proxy(_ environment: [String: String]) throws(UsageFault) -> ProxyChoice {
    do throws(ProxyFault) { return try ProxyChoice(value("proxy"), environment: environment) } catch {
      throw UsageFault("--proxy: \(error)")
    }
  }
}
