internal import Basics
internal import PushPayload
internal import Transport

/// What happens to a phone between the 200 and the push's arrival: power, budget, other tokens.
extension ControlRoutes {
  static let deliveryPlaces = [
    "PUT /devices/{device}/power", "PUT /devices/{device}/developer", "POST /devices/{device}/renew",
  ]

  func delivery(_ request: HTTPRequest, device: String, _ notion: String) async throws -> HTTPResponse {
    switch notion {
    case "power": return try await power(request, device: device)
    case "developer": return try await developer(request, device: device)
    case "renew": return try await renew(request, device: device)
    default: throw Self.noSuchPlace(request)
    }
  }

  private func mustBeKnown(_ device: String) throws(ControlFault) {
    guard core.withState({ state, _ in state.device(device) != nil }) else {
      throw ControlFault(404, at: "device", "there is no device \"\(device.shortened)\"", "GET /devices lists them.")
    }
  }

  private func power(_ request: HTTPRequest, device: String) async throws -> HTTPResponse {
    guard request.method == "PUT" || request.method == "POST" else { throw Self.wrongMethod(request, "PUT or POST") }
    try mustBeKnown(device)
    let remedy = "Send \(PhonePower.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")), or {\"power\": …}."
    var word = String(decoding: request.body, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined()
    if word.hasPrefix("{") {
      word = try ControlFields(request.body, known: ["power"]).text("power") ?? ""
    } else if word.count > 1, word.hasPrefix("\""), word.hasSuffix("\"") {
      word = String(word.dropFirst().dropLast())
    }
    guard let power = PhonePower(rawValue: word) else {
      throw ControlFault(400, at: "power", "\"\(word.shortened)\" is not known", remedy)
    }
    core.setPower(device: device, power)
    try await keeper?.flush()
    return .json(200, ["device": .string(device), "power": .string(power.rawValue)])
  }

  private func developer(_ request: HTTPRequest, device: String) async throws -> HTTPResponse {
    guard request.method == "PUT" else { throw Self.wrongMethod(request, "PUT") }
    try mustBeKnown(device)
    let isUnlimited: Bool
    switch String(decoding: request.body, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined() {
    case "true": isUnlimited = true
    case "false": isUnlimited = false
    default: throw ControlFault(400, at: "developer", "it is no truth value", "Send true or false.")
    }
    core.setUnlimited(device: device, isUnlimited)
    try await keeper?.flush()
    return .json(200, ["device": .string(device), "developer": .bool(isUnlimited)])
  }

  private func renew(_ request: HTTPRequest, device: String) async throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    try mustBeKnown(device)
    let fields = try ControlFields(request.body, known: ["reason", "bundle", "immediately"])
    guard try fields.text("reason") != nil else {
      throw ControlFault(
        400, at: "reason", "it is missing",
        "Give one of \(RenewalReason.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    let reason = try fields.word("reason", default: RenewalReason.restore)
    let bundle = try fields.value("bundle") == nil ? nil : fields.name("bundle")
    if reason == .appReinstall, bundle == nil {
      throw ControlFault(400, at: "bundle", "it is missing", "Name the app that was installed again.")
    }
    let renewals = core.renewTokens(
      device: device, bundleID: bundle, reason: reason, isToldAtOnce: try fields.flag("immediately") ?? false)
    try await keeper?.flush()
    return .json(
      200,
      [
        "device": .string(device), "reason": .string(reason.rawValue),
        "tokens": .array(
          renewals.map { renewal in
            var object = CourierSession.news(of: renewal)
            object.members.removeAll { $0.key == "type" || $0.key == "reason" }
            return .object(object)
          }),
      ])
  }
}
