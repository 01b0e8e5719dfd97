internal import PushPayload
internal import Transport

/// Troubles on demand (docs/faults.md).
extension ControlRoutes {
  static let faultPlaces = [
    "GET /faults", "POST /faults", "PUT /faults", "DELETE /faults", "DELETE /faults/{id}", "POST /faults/reload",
  ]

  func faults(_ request: HTTPRequest, _ rest: [String]) throws -> HTTPResponse {
    switch (request.method, rest.count) {
    case ("GET", 0): return try list(request)
    case ("PUT", 0):
      let rules = try Self.rules(request)
      core.faults.set(rules)
      return answer(200)
    case ("POST", 0):
      core.faults.add(try Self.rules(request, besides: Set(core.faults.standings.map(\.rule.id))))
      return answer(201)
    case ("DELETE", 0):
      core.faults.set([])
      return HTTPResponse(status: 204)
    case ("POST", 1) where rest[0] == "reload": return try reload()
    case ("DELETE", 1):
      guard core.faults.remove(rest[0]) else {
        throw ControlFault(404, at: "id", "there is no fault \"\(rest[0].shortened)\"", "GET /faults lists them.")
      }
      return HTTPResponse(status: 204)
    case (_, 0): throw Self.wrongMethod(request, "GET, POST, PUT or DELETE")
    case (_, 1) where rest[0] == "reload": throw Self.wrongMethod(request, "POST")
    case (_, 1): throw Self.wrongMethod(request, "DELETE")
    default: throw Self.noSuchPlace(request)
    }
  }

  private func list(_ request: HTTPRequest) throws -> HTTPResponse {
    let query = try ControlQuery(request, known: ["since", "count"])
    let since = try query.number("since") ?? 0
    let count = try query.number("count") ?? 100
    let log = core.faults.applied
    let applied = log.lazy.filter { $0.number > since }.prefix(Int(clamping: count)).map(FaultJSON.value(of:))
    return answer(200, ["last": .number(JSONNumber(log.last?.number ?? 0)), "applied": .array(Array(applied))])
  }

  private func answer(_ status: Int, _ more: JSONObject = [:]) -> HTTPResponse {
    let rules = core.faults.standings.map(FaultJSON.value(of:))
    let object: JSONObject = ["faults": .array(rules), "seed": .number(JSONNumber(core.faults.seed))]
    return .json(status, .object(JSONObject(object.members + more.members)))
  }

  private func reload() throws -> HTTPResponse {
    do {
      guard try core.faults.readAgain() != nil else {
        throw ControlFault(
          409, at: "reload", "this simulator was started without a file of faults",
          "Start it with --faults FILE, or send the rules with PUT /faults.")
      }
    } catch let fault as ControlFault {
      throw fault
    } catch {
      throw ControlFault(400, at: "file", "\(error)", "The former rules are still in force.")
    }
    return answer(200)
  }

  private static func rules(
    _ request: HTTPRequest, besides taken: Set<String> = []
  ) throws(ControlFault) -> [FaultRule] {
    let document: JSONDocument
    do { document = try JSONReader.read(request.body) } catch {
      throw ControlFault(
        400, error.found, "Send a rule or a list of rules; line \(error.line), column \(error.column). \(error.remedy)")
    }
    do { return try FaultRule.read(document.value, besides: taken) } catch {
      throw ControlFault(400, at: "\(error.path)", error.found, error.remedy)
    }
  }
}
