internal import Basics
internal import PushPayload
internal import Transport

/// What happens to a phone between the 200 and the push's arrival: power, budget, other tokens.
extension ControlRoutes {
  static let deliveryPlaces = [
    "PUT /devices/{device}/power", "PUT /devices/{device}/developer", "POST /devices/{device}/renew",
    "GET /delivery", "PUT /delivery",
  ]

  // MARK: The rules in force

  func deliveryRules(_ request: HTTPRequest) throws(ControlFault) -> HTTPResponse {
    var rules = core.withState { state, _ in state.schedule.rules }
    switch request.method {
    case "GET": break
    case "PUT":
      let fields = try ControlFields(
        request.body,
        known: [
          "preset", "overwritesWaiting", "isReordering", "groupWindow", "powerWindow", "backgroundPerHour",
          "backgroundPerDay",
        ])
      rules = try Self.rules(fields, from: rules)
      core.setDelivery(rules)
    default: throw Self.wrongMethod(request, "GET or PUT")
    }
    return .json(200, Self.json(rules))
  }

  /// What is not named stays; with a preset, what is not named becomes as the preset has it.
  private static func rules(
    _ fields: ControlFields, from present: DeliveryRules
  ) throws(ControlFault) -> DeliveryRules {
    var rules = present
    switch try fields.text("preset") {
    case nil: break
    case "usual": rules = DeliveryRules()
    case "apple": rules = .asApple
    case .some(let other):
      throw ControlFault(400, at: "preset", "\"\(other.shortened)\" is not known", "Give usual or apple.")
    }
    if let flag = try fields.flag("overwritesWaiting") { rules.overwritesWaiting = flag }
    if let flag = try fields.flag("isReordering") { rules.isReordering = flag }
    if let seconds = try whole("groupWindow", fields, from: 0) { rules.groupWindow = .seconds(seconds) }
    if let seconds = try whole("powerWindow", fields, from: 0) { rules.powerWindow = .seconds(seconds) }
    if fields.value("backgroundPerHour") != nil {
      rules.backgroundPerHour = try whole("backgroundPerHour", fields, from: 1).map { Int($0) }
    }
    if fields.value("backgroundPerDay") != nil {
      rules.backgroundPerDay = try whole("backgroundPerDay", fields, from: 1).map { Int($0) }
    }
    return rules
  }

  /// nil for a field that is missing, or `null`.
  private static func whole(_ name: String, _ fields: ControlFields, from least: Int64) throws(ControlFault) -> Int64? {
    guard let value = fields.value(name), value != .null else { return nil }
    guard let number = value.number?.int64, (least...1_000_000_000).contains(number) else {
      throw ControlFault(400, at: name, "it is no whole number from \(least) on", "Windows count seconds.")
    }
    return number
  }

  private static func json(_ rules: DeliveryRules) -> JSONValue {
    func number(_ count: Int?) -> JSONValue { count.map { .number(JSONNumber($0)) } ?? .null }
    return [
      "overwritesWaiting": .bool(rules.overwritesWaiting), "isReordering": .bool(rules.isReordering),
      "groupWindow": .number(JSONNumber(rules.groupWindow.milliseconds / 1000)),
      "powerWindow": .number(JSONNumber(rules.powerWindow.milliseconds / 1000)),
      "backgroundPerHour": number(rules.backgroundPerHour), "backgroundPerDay": number(rules.backgroundPerDay),
    ]
  }

  // MARK: A phone

  func delivery(_ request: HTTPRequest, device: String, _ notion: String) async throws -> HTTPResponse {
    switch notion {
    case "power": return try await power(request, device: device)
    case "developer": return try await developer(request, device: device)
    case "renew": return try await renew(request, device: device)
    default: throw Self.noSuchPlace(request)
    }
  }

  func mustBeKnown(_ device: String) throws(ControlFault) {
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
    guard let isUnlimited = request.truth else {
      throw ControlFault(400, at: "developer", "it is no truth value", "Send true or false.")
    }
    core.setUnlimited(device: device, isUnlimited)
    try await keeper?.flush()
    return .json(200, ["device": .string(device), "developer": .bool(isUnlimited)])
  }

  private func renew(_ request: HTTPRequest, device: String) async throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    try mustBeKnown(device)
    let fields = try ControlFields(request.body, known: ["reason", "bundle", "immediately"])
    guard let reason = try fields.word("reason", RenewalReason.self) else {
      throw ControlFault(
        400, at: "reason", "it is missing",
        "Give one of \(RenewalReason.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
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
