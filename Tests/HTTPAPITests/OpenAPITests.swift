import Foundation
import PushPayload
import PushService
import Testing

@testable import HTTPAPI

@Suite("The OpenAPI document")
struct OpenAPITests {
  private static let methods = ["get", "put", "post", "delete", "patch"]

  /// Every operation as `GET /v1/tags/{tag}`, with its object.
  private static let operations: [(name: String, operation: JSONObject)] =
    (OpenAPIDocument.document.object?["paths"]?.object?.members ?? []).flatMap { path in
      (path.value.object?.members ?? []).filter { methods.contains($0.key) }.map {
        ("\($0.key.uppercased()) \(path.key)", $0.value.object ?? [:])
      }
    }

  @Test("each call of /v1 and /device/v1 is in it, and each of its operations is served")
  func agreesWithTheRoutes() {
    let routes = OwnRoute.all.map { "\($0.method) \($0.path)" }
    #expect(Self.operations.map(\.name).sorted() == routes.sorted())
  }

  @Test("every part is JSON without a key that comes twice", arguments: [OpenAPIDocument.frame] + OpenAPIDocument.parts)
  func isRead(part: String) throws {
    let document = try JSONReader.read(Array(part.utf8))
    #expect(document.duplicateKeys == [])
    #expect(document.value.object != nil)
  }

  @Test("all that it refers to is there, and all that it defines is referred to")
  func refersToWhatIsThere() {
    var referred: Set<String> = []
    func walk(_ value: JSONValue) {
      switch value {
      case .object(let object):
        if let reference = object["$ref"]?.string { referred.insert(reference) }
        for member in object.members { walk(member.value) }
      case .array(let elements): for element in elements { walk(element) }
      case .null, .bool, .number, .string: break
      }
    }
    walk(OpenAPIDocument.document)
    var defined: [String] = []
    for kind in ["schemas", "parameters", "headers", "responses"] {
      let components = OpenAPIDocument.document.object?["components"]?.object?[kind]?.object
      defined += (components?.members ?? []).map { "#/components/\(kind)/\($0.key)" }
    }
    #expect(defined.sorted() == referred.sorted(), "a name that is missing, unused, or defined twice")
  }

  @Test("every operation has an id of its own, a summary, and the answers that any call may get")
  func isComplete() {
    let reference = OpenAPIReference(OpenAPIDocument.document)
    #expect(Set(Self.operations.map { $0.operation["operationId"] }).count == Self.operations.count)
    for (name, operation) in Self.operations {
      #expect(operation["summary"]?.string?.isEmpty == false, "\(name)")
      for status in ["400", "404", "405", "413", "429", "500", "503"] {
        #expect(operation["responses"]?.object?[status] != nil, "\(name) \(status)")
      }
      for parameter in name.split(separator: "/").filter({ $0.hasPrefix("{") }) {
        let path = String(name.drop { $0 != "/" })
        let item = OpenAPIDocument.document.object?["paths"]?.object?[path]?.object
        let named = String(parameter.dropFirst().dropLast())
        let names = item?["parameters"]?.array?.map { reference.resolved($0).object?["name"]?.string } ?? []
        #expect(names.contains(named), "\(name) \(named)")
      }
    }
  }

  @Test("GET /v1/openapi.json needs no credentials", arguments: Depth.allCases)
  func isServed(depth: Depth) async throws {
    try await Bench.with(depth) { bench in
      let reply = try await bench.call("GET", "/v1/openapi.json", as: .nobody)
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"] == "application/json")
      #expect(reply.json.object?["openapi"] == "3.1.0")
      let refused = try await bench.call("POST", "/v1/openapi.json", as: .nobody)
      #expect(refused.status == 405)
      #expect(refused.headers["allow"] == "GET, HEAD")
    }
  }

  // MARK: docs/api.md

  private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/api.md")
    .standardizedFileURL
  private static let mark = "<!-- From here on rendered from GET /v1/openapi.json by script/api-reference. -->"
  private static var updates: Bool { ProcessInfo.processInfo.environment["BELFRY_UPDATE"] == "api" }

  @Test("the reference in docs/api.md is rendered from it: script/api-reference")
  func isRendered() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let end = try #require(text.range(of: Self.mark)).upperBound
    let rendered = "\(text[..<end])\n\n\(OpenAPIReference(OpenAPIDocument.document).markdown)"
    if Self.updates { try rendered.write(to: Self.page, atomically: true, encoding: .utf8) }
    #expect(try String(contentsOf: Self.page, encoding: .utf8) == rendered)
  }

  @Test("each fault's type is an anchor in docs/api.md, and its row tells the status")
  func faultsAreExplained() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    for code in RequestFault.Code.allCases where !Self.onlyOfV3.contains(code) {
      let row = "| <a id=\"\(code.rawValue)\"></a>\(code.rawValue) | \(code.httpStatus) |"
      #expect(text.contains(row), "\(code): \(row)")
    }
  }

  private static let onlyOfV3: Set<RequestFault.Code> = [
    .reportInternalError, .reportAuthenticationFailed, .reportInvalidParameter, .reportUnitMismatch, .reportSpanTooLong,
    .adminMethodNotAllowed, .adminInvalid, .adminAuthenticationFailed, .scheduleAuthenticationFailed,
  ]
}
