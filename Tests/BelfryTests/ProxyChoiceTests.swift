import Testing
import Transport

@testable import belfry

@Suite("The proxy of serve and push")
struct ProxyChoiceTests {
  static let apple = Endpoint(host: "api.push.apple.com", port: 443)

  @Test("what was set for Belfry wins over the environment; none turns it off")
  func precedence() throws {
    let environment = ["HTTPS_PROXY": "http://env:1", "NO_PROXY": "*"]
    #expect(try ProxyChoice("socks5://own:2", environment: environment).proxy(to: Self.apple)?.endpoint.host == "own")
    #expect(try ProxyChoice("none", environment: environment).proxy(to: Self.apple) == nil)
    #expect(try ProxyChoice(nil, environment: environment).proxy(to: Self.apple) == nil)
    #expect(try ProxyChoice(nil, environment: [:]).proxy(to: Self.apple) == nil)
    var first = environment
    first["https_proxy"] = "http://lower:3"
    first["NO_PROXY"] = nil
    #expect(try ProxyChoice(nil, environment: first).proxy(to: Self.apple)?.endpoint.host == "lower")
    let all = try ProxyChoice(nil, environment: ["ALL_PROXY": "socks5h://all:4", "HTTPS_PROXY": ""])
    #expect(all.proxy(to: Self.apple) == .socks5(Endpoint(host: "all", port: 4)) && all.variable == "ALL_PROXY")
  }

  @Test(
    "NO_PROXY names hosts, domains, addresses and ports",
    arguments: [
      ("", "api.push.apple.com:443", false), ("*", "api.push.apple.com:443", true),
      ("apple.com", "api.push.apple.com:443", true), (".apple.com", "api.push.apple.com:443", true),
      ("*.apple.com", "api.push.apple.com:443", true), ("pple.com", "api.push.apple.com:443", false),
      ("example.com, API.push.apple.com", "api.push.apple.com:443", true), ("a b", "b:1", true),
      ("api.push.apple.com:2197", "api.push.apple.com:443", false),
      ("api.push.apple.com:443", "api.push.apple.com:443", true), ("10.0.0.1", "10.0.0.1:443", true),
      ("[2620:149::1]:443", "[2620:149::1]:443", true), ("2620:149::1", "[2620:149::1]:443", true),
      ("", "localhost:2197", true), ("", "127.0.0.1:2197", true), ("", "[::1]:2197", true), (".", "b:1", false),
    ])
  func exempt(list: String, server: String, isExempt: Bool) throws {
    #expect(ProxyChoice.isExempt(try #require(Endpoint(server)), list) == isExempt)
  }

  @Test("is shown without its password, and complained of without it, naming the variable")
  func hidden() throws {
    let choice = try ProxyChoice(
      nil, environment: ["HTTPS_PROXY": "http://lin:secret@p:1", "no_proxy": "intern.example"])
    #expect(choice.words == "http://lin:…@p:1, not for intern.example")
    let fault = #expect(throws: ProxyFault.self) {
      try ProxyChoice(nil, environment: ["ALL_PROXY": "ftp://lin:secret@p:1"])
    }
    #expect(fault?.description.contains("ALL_PROXY") == true && fault?.description.contains("secret") == false)
  }
}
