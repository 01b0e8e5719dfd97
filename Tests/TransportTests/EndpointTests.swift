import Testing
import Transport

@Suite("Endpoints as people write them")
struct EndpointTests {
  @Test(
    "are read and written alike",
    arguments: [
      ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:443", "::1", 443),
      ("api.push.apple.com:2197", "api.push.apple.com", 2197),
    ] as [(String, String, UInt16)])
  func reads(text: String, host: String, port: UInt16) throws {
    let endpoint = try #require(Endpoint(text))
    #expect(endpoint == Endpoint(host: host, port: port))
    #expect(endpoint.description == text)
  }

  @Test(
    "are refused when they are none",
    arguments: [
      "", "localhost", ":80", "host:", "host:65536", "host:-1", "host:+1", "::1:80", "[::1]", "[::1:80", "[host]:80",
      "a b:80", "http://host:80", "host:８０",
    ])
  func refuses(text: String) {
    #expect(Endpoint(text) == nil)
  }
}
