internal import Audience
internal import Basics
internal import PushPayload
internal import PushService
internal import Transport

/// Saved audiences, A/B tests, and how many an audience means.
extension HTTPAPI {
  /// `POST /v1/audiences/count` with `{"audience": …}`.
  func countAudience(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let count = try await service.count(app, try Self.audience(call.request.body).expression)
    return Answers.ok([
      "devices": .number(JSONNumber(count.devices)), "production": .number(JSONNumber(count.production)),
      "sandbox": .number(JSONNumber(count.sandbox)), "deadTokens": .number(JSONNumber(count.deadTokens)),
      "unmatched": .array(count.unmatched.map(JSONValue.string)),
    ])
  }

  private static func audience(
    _ body: [UInt8]
  ) throws(RequestFault) -> (document: JSONValue, expression: AudienceExpression) {
    let fields = try RequestBody.object(body, codes: .push)
    try fields.refuseUnknown(besides: ["audience"])
    let audience = try ExpressionReading.audience(fields)
    return (fields["audience"]?.value ?? .null, audience)
  }

  // MARK: Segments

  /// `GET /v1/segments`.
  func listSegments(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let segments = try await service.segments(app, after: page.cursor, limit: page.limit + 1)
    return page.answer("segments", segments, cursor: \.id, write: Self.object)
  }

  /// `GET /v1/segments/{id}`.
  func showSegment(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard let segment = try await service.segment(app, id: id) else { throw PushService.noSuch("segment", id) }
    return Answers.ok(.object(Self.object(segment))).tagged(UInt64(segment.version))
  }

  /// `PUT /v1/segments/{id}` with `{"audience": …}`; with `If-Match` only while it is what was read.
  func putSegment(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let (document, expression) = try Self.audience(call.request.body)
    let segment = try await service.keepSegment(
      app, id: id, document: document.encoded(), expression, ifVersion: try call.ifMatch().map { Int64(clamping: $0) })
    return Answers.ok(.object(Self.object(segment))).tagged(UInt64(segment.version))
  }

  /// `DELETE /v1/segments/{id}`.
  func deleteSegment(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteSegment(app, id: id)
    return Answers.noContent
  }

  private static func object(_ segment: SegmentView) -> JSONObject {
    [
      "id": .string(segment.id), "audience": (try? JSONReader.read(segment.document).value) ?? .null,
      "updatedAt": .string(segment.updatedAt.description),
    ]
  }

  // MARK: A/B tests

  /// `GET /v1/ab-tests`.
  func listABTests(_ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let page = try Page(call.query(.push))
    let tests = try await service.abTests(app, after: page.cursor, limit: page.limit + 1)
    return page.answer("tests", tests, cursor: \.id, write: { Self.object($0, results: nil) })
  }

  /// `GET /v1/ab-tests/{id}`: the variants with what became of their pushes, side by side.
  func showABTest(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    guard let test = try await service.abTest(app, id: id) else { throw PushService.noSuch("A/B test", id) }
    return Answers.ok(.object(Self.object(test, results: try await service.results(app, of: test))))
  }

  /// `PUT /v1/ab-tests/{id}` with `{"variants": [{"name": "a", "percent": 50}, …]}`.
  func putABTest(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    let fields = try RequestBody.object(call.request.body, codes: .push)
    try fields.refuseUnknown(besides: ["variants"])
    guard let list = fields["variants"] else {
      throw fields.missing("variants", "Give a list such as [{\"name\": \"a\", \"percent\": 50}].")
    }
    var variants: [(name: String, percent: Double)] = []
    for element in try list.array() {
      let variant = try element.object()
      try variant.refuseUnknown(besides: ["name", "percent"])
      guard let name = variant["name"] else { throw variant.missing("name", "Name the variant.") }
      guard let percent = variant["percent"] else { throw variant.missing("percent", "Say its part of all devices.") }
      variants.append((try name.name(.resource), try percent.percent()))
    }
    let test = try await service.makeABTest(app, id: id, variants)
    return Answers.ok(.object(Self.object(test, results: nil)))
  }

  /// `DELETE /v1/ab-tests/{id}`.
  func deleteABTest(_ id: String, _ call: inout Call) async throws(RequestFault) -> HTTPResponse {
    let app = try await authenticate(&call)
    try await service.deleteABTest(app, id: id)
    return Answers.noContent
  }

  private static func object(_ test: ABTestView, results: [VariantReport]?) -> JSONObject {
    var variants: [JSONValue] = []
    for (index, share) in test.variants.enumerated() {
      var object: JSONObject = [
        "name": .string(share.variant),
        "percent": JSONNumber(Double(share.slots.count) * 100 / Double(AudienceShare.slotCount)).map(JSONValue.number)
          ?? .null,
      ]
      if let result = results?[index] {
        object["pushes"] = .array(result.pushes.map { .string(String($0)) })
        for (key, count) in [
          ("targeted", result.targeted), ("accepted", result.accepted), ("refused", result.refused),
          ("expired", result.expired), ("unanswered", result.unanswered), ("skipped", result.skipped),
        ] {
          object[key] = .number(JSONNumber(count))
        }
      }
      variants.append(.object(object))
    }
    return [
      "id": .string(test.id), "variants": .array(variants), "createdAt": .string(test.createdAt.description),
    ]
  }
}

extension Field {
  fileprivate func percent() throws(RequestFault) -> Double {
    guard case .number(let number) = value, let percent = Double(number.literal), 0...100 ~= percent else {
      throw wrong("\(value.kindInWords) stands here", "It must be a number above 0, at most 100.")
    }
    return percent
  }
}
