import Basics
import Phone
import PushPayload

/// What a running phone answers to the verbs of scripts.
struct PhoneAnswering {
  typealias Send = @Sendable (PhoneLine.Reply) -> Bool

  var host: PhoneHost
  var shutdown: @Sendable () -> Void

  func answer(_ request: PhoneLine.Request, _ send: @escaping Send) async {
    do {
      if request.words.first == "status" { return try await status(send) }
      if request.follows { return await follow(request, send) }
      let act = try await act(request)
      let answer = try await host.perform(act, size: request.size)
      for entry in answer.entries where !send(.line(LineMode.text(entry, json: request.json))) { return }
      for text in answer.text where !send(.line(text)) { return }
      finish(.success, nil, send)
      if answer.ends { shutdown() }
    } catch let fault as UsageFault {
      finish(.usage, fault.words, send)
    } catch {
      finish(.failure, "\(error)", send)
    }
  }

  private func act(_ request: PhoneLine.Request) async throws -> PhoneAct {
    let act = try PhoneWord.act(of: request.words, on: await host.phone())
    guard let payload = request.payload, case .push(var push) = act else { return act }
    // the caller read the file, whose folder and standard input are its own
    push.source = .bytes(payload, name: request.payloadName ?? "the payload")
    return .push(push)
  }

  /// One line that says who this is, for `list` and for `booted`.
  private func status(_ send: Send) async throws {
    let phone = await host.phone()
    let apps = phone.bundleIDs.map { bundle -> JSONValue in
      var app: JSONObject = [
        "bundle": .string(bundle), "state": .string(phone.state(of: bundle)?.rawValue ?? ""),
        "badge": .number(JSONNumber(phone.badge(of: bundle))),
      ]
      app["token"] = phone.token(of: bundle).map { .string($0.hex) }
      return .object(app)
    }
    var object = await host.places()
    object["pid"] = .number(JSONNumber(Int(processID())))
    object["locked"] = .bool(phone.isLocked)
    object["apps"] = .array(apps)
    if send(.line(JSONValue.object(object).text)) { finish(.success, nil, send) }
  }

  private func follow(_ request: PhoneLine.Request, _ send: Send) async {
    let told = await host.follow(since: 0)
    for await news in told.news {
      guard case .entry(let entry) = news else { continue }
      guard send(.line(LineMode.text(entry, json: request.json))) else { break }
    }
    await host.unfollow(told.id)
    finish(.success, nil, send)
  }

  private func finish(_ status: ExitStatus, _ complaint: String?, _ send: Send) {
    _ = send(.end(status, complaint: complaint))
  }
}
