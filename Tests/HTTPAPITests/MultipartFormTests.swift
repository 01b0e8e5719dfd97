import Testing

@testable import HTTPAPI

@Suite("multipart/form-data")
struct MultipartFormTests {
  private func form(_ body: String, _ type: String = "multipart/form-data; boundary=b") -> MultipartForm? {
    MultipartForm(Array(body.utf8), contentType: type)
  }

  private func parts(_ form: MultipartForm?) -> [[String]]? {
    form?.parts.map { [$0.name, $0.fileName ?? "-", String(decoding: $0.content, as: UTF8.self)] }
  }

  @Test("parts are taken apart, whatever stands in them")
  func reads() {
    let body = """
      preamble\r\n--b \t\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n--c\r\ntwo\r\n\
      --b\r\ncontent-disposition:form-data; filename="x \\"y\\";.txt"; name=f\r\nContent-Type: text/plain\r\n\r\n\r\n\
      --b--\r\nepilogue
      """
    #expect(parts(form(body)) == [["a", "-", "one\r\n--c\r\ntwo"], ["f", "x \"y\";.txt", ""]])
  }

  @Test(
    "what is no such form is nil",
    arguments: ["", "--b", "--b\r\n", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx", "--c--", "--bx"])
  func refuses(body: String) {
    #expect(parts(form(body)) == nil)
  }

  @Test(
    "the content type must say so and name the boundary",
    arguments: [
      "application/json", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=b",
      "multipart/form-data; boundary=\"\(String(repeating: "b", count: 71))\"",
    ])
  func wrongType(type: String) {
    #expect(parts(form("--b--", type)) == nil)
    #expect(parts(form("--b--", "Multipart/Form-Data; Boundary=\"b\"")) == [])
  }

  @Test("no cut of a good body is read as a whole one, and none traps")
  func cuts() {
    let body = FileCallTests.form("lin\r\nwei", ttl: "5")
    for count in 0..<body.utf8.count {
      let cut = MultipartForm(Array(body.utf8.prefix(count)), contentType: "multipart/form-data; boundary=xYz")
      #expect(cut == nil || count >= body.utf8.count - 2)
    }
  }
}
