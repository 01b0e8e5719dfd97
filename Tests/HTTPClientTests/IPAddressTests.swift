import HTTPClient
import Testing

@Suite("Addresses of the public internet")
struct IPAddressTests {
  static let reserved: [(String, String)] = [
    ("0.0.0.0", "this host"), ("0.1.2.3", "this network"), ("10.0.0.1", "private"), ("172.16.0.1", "private"),
    ("172.31.255.255", "private"), ("192.168.1.1", "private"), ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("169.254.169.254", "metadata of clouds, link-local"), ("100.64.0.1", "shared by carriers"),
    ("100.127.255.255", "shared by carriers"), ("192.0.0.8", "protocol assignments"), ("192.0.2.1", "documentation"),
    ("198.51.100.7", "documentation"), ("203.0.113.7", "documentation"), ("198.18.0.1", "benchmarks"),
    ("198.19.255.255", "benchmarks"), ("192.88.99.1", "former 6to4 relays"), ("224.0.0.1", "multicast"),
    ("240.0.0.1", "reserved"), ("255.255.255.255", "broadcast"),
    ("::", "unspecified"), ("::1", "loopback"), ("::127.0.0.1", "IPv4-compatible"), ("fe80::1", "link-local"),
    ("fec0::1", "site-local"), ("fc00::1", "unique local"), ("fd12:3456::1", "unique local"), ("ff02::1", "multicast"),
    ("::ffff:127.0.0.1", "mapped loopback"), ("::ffff:10.0.0.1", "mapped private"),
    ("::ffff:a9fe:a9fe", "mapped metadata"), ("64:ff9b::127.0.0.1", "NAT64 of loopback"),
    ("64:ff9b::169.254.169.254", "NAT64 of metadata"), ("64:ff9b:1::1", "NAT64 of a network"),
    ("2002:7f00:1::", "6to4 of loopback"), ("2002:a00:1::", "6to4 of private"), ("2001::1", "Teredo"),
    ("2001:db8::1", "documentation"), ("3fff::1", "documentation"), ("100::1", "discard"),
    ("5f00::1", "segment routing"),
  ]

  @Test("no special-purpose address is one", arguments: reserved)
  func isReserved(text: String, what: String) throws {
    #expect(try #require(IPAddress(text)).isPublic == false, "\(what)")
  }

  @Test(
    "others are",
    arguments: [
      "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
      "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.0.1",
      "198.20.0.1", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "2001:200::1", "2002:101:101::",
      "64:ff9b::1.1.1.1", "::ffff:1.1.1.1",
    ])
  func isPublic(text: String) throws {
    #expect(try #require(IPAddress(text)).isPublic)
  }

  @Test("an address is written as people write it; what is none is nil")
  func texts() {
    #expect(IPAddress("2001:DB8:0:0:0:0:0:1")?.description == "2001:db8::1")
    #expect(IPAddress("::ffff:10.0.0.1") == IPAddress("10.0.0.1"))
    for text in ["", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "::1%eth0", ":::"] {
      #expect(IPAddress(text) == nil, "\(text)")
    }
    #expect(IPAddress(bytes: [1, 2, 3]) == nil)
  }

  @Test("a range holds the addresses that begin as it does")
  func ranges() throws {
    let rows: [(range: String, inside: [String], outside: [String])] = [
      ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "::1"]),
      ("192.168.4.0/22", ["192.168.4.0", "192.168.7.255"], ["192.168.8.0", "192.168.3.255"]),
      ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]),
      ("fd00::/8", ["fd12::1"], ["fc00::1", "10.0.0.1"]), ("::1/128", ["::1"], ["::2"]),
    ]
    for (text, inside, outside) in rows {
      let range = try #require(AddressRange(text))
      for address in inside { #expect(range.contains(try #require(IPAddress(address))), "\(text) \(address)") }
      for address in outside { #expect(!range.contains(try #require(IPAddress(address))), "\(text) \(address)") }
    }
    #expect(AddressRange("::1/128")?.description == "::1" && AddressRange("10.0.0.0/8")?.description == "10.0.0.0/8")
    for text in ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "host/8", "::/129"] {
      #expect(AddressRange(text) == nil, "\(text)")
    }
  }
}
