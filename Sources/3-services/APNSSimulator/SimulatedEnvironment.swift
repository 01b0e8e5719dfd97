/// Which of Apple's two disjoint services a connection speaks to; tokens and keys never cross.
public enum SimulatedEnvironment: String, CaseIterable, Sendable {
  case sandbox, production

  /// The environment that a `:authority` or `host` value names, with or without port; nil for a name that is not Apple's.
  init?(host: Bytes) {
    let name = host.prefix { $0 != UInt8(ascii: ":") }
    if name.equals("api.push.apple.com" as StaticString)
      || name.equals("api-broadcast.push.apple.com" as StaticString)
      || name.equals("api-manage-broadcast.push.apple.com" as StaticString)
    {
      self = .production
    } else if name.equals("api.sandbox.push.apple.com" as StaticString)
      || name.equals("api.development.push.apple.com" as StaticString)
      || name.equals("api-broadcast.sandbox.push.apple.com" as StaticString)
      || name.equals("api-manage-broadcast.sandbox.push.apple.com" as StaticString)
    {
      self = .sandbox
    } else {
      return nil
    }
  }
}
