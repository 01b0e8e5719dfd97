import Basics
import Transport

/// What a peer shows: a certificate by an authority of its own.
struct PeerCertificates {
  let authority: CertificateAuthority
  let server: TLSIdentity

  init() throws {
    let now = SystemClock().now
    let (begin, end) = (now - .days(1), now + .days(30))
    authority = try CertificateAuthority.create(commonName: "Test CA", notBefore: begin, notAfter: end)
    server = try authority.issueServer(names: ["localhost", "127.0.0.1"], notBefore: begin, notAfter: end)
  }
}
