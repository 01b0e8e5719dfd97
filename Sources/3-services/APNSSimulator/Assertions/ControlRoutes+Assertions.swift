internal import Basics
internal import PushPayload
internal import Transport

/// A test's expectations, judged here so that every language has them.
extension ControlRoutes {
  static let assertionPlaces = ["POST /assertions"]

  private enum ReportFormat: String, CaseIterable {
    case json, junit
  }

  func assertions(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard request.method == "POST" else { throw Self.wrongMethod(request, "POST") }
    let query = try ControlQuery(request, known: ["format"])
    let format = try query.word("format", ReportFormat.self) ?? .json
    let report = try await report(on: AssertionRequest(request.body))
    let status = report.passed ? 200 : 422
    switch format {
    case .json: return .json(status, report.json)
    case .junit:
      return HTTPResponse(
        status: status, headers: ["Content-Type": "application/xml"], body: Array(report.junit.xml.utf8))
    }
  }

  private func report(on request: AssertionRequest) async throws(ControlFault) -> AssertionReport {
    let clock = core.clock
    let (startedAt, start) = (clock.now, clock.uptime)
    var run = AssertionRun(request.expectations, start: start)
    let concerns = run.concerns
    _ = try await watching(
      concerns, wait: request.wait,
      look: { changed in
        run.see(changed, at: clock.uptime)
        return run.isSettled
      })
    let (log, refusals) = core.withState { state, _ in (state.notifications.snapshot, state.refusals.all) }
    return AssertionReport(
      request, run: run, startedAt: startedAt, start: start, end: clock.uptime, log: log, refusals: refusals)
  }
}
