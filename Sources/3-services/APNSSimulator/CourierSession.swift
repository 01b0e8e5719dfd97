internal import Basics
internal import PushPayload
internal import Transport

/// The courier over the wire: one WebSocket for one device, JSON texts both ways.
///
///     phone ─▶ {"type":"hello","device":"…"}                      ◀─ {"type":"welcome", …}
///     phone ─▶ {"type":"token","bundle":"…","environment":"…","kind":"…","request":1}   ◀─ {"type":"token", …}
///              ◀─ {"type":"push","number":7, …, "payload":"…"}    phone ─▶ {"type":"ack","number":7}
///              ◀─ {"type":"token", …, "former":"…","reason":"restore"} when a token was changed from outside
///     phone ─▶ {"type":"uninstall","bundle":"…"}                  ◀─ {"type":"uninstalled", …}
///     phone ─▶ {"type":"alerts","bundle":"…","allowed":false}     ◀─ {"type":"alerts", …}
///              ◀─ {"type":"fate","id":"…","bundle":"…","metric":"…"} when asked for in `hello`
///     phone ─▶ {"type":"ping","request":1}                        ◀─ {"type":"pong","request":1}, behind all that was for it
///     phone ─▶ {"type":"subscribe","bundle":"…","channel":"…"}    ◀─ {"type":"subscribed", …}, then what is stored
///     phone ─▶ {"type":"activity","bundle":"…","attributesType":"…", …}   ◀─ {"type":"activity","activity":{…}}
///
/// `activity` also comes whenever one of the phone's Live Activities has changed.
///
/// One push is in flight at a time: the next comes after its `ack`. What is not acknowledged when the socket ends waits
/// again, by the rules of the store.
struct CourierSession: Sendable {
  let core: SimulatorCore
  let keeper: StoreKeeper?

  static var limits: WebSocket.Limits {
    var limits = WebSocket.Limits()
    limits.message = 65_536
    return limits
  }

  /// Pushes that wait for a slow phone; one more and it is cut off.
  static let mostWaiting = 256

  /// What goes down to the phone, in order.
  private enum Outgoing: Sendable {
    case message(JSONObject)
    case end(code: UInt16, String)
  }

  func serve(_ socket: WebSocket) async {
    let (queue, downward) = AsyncStream.makeStream(
      of: Outgoing.self, bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    let writer = Task {
      for await item in queue {
        switch item {
        case .message(let object):
          do { try await socket.send(JSONValue.object(object).text) } catch { return }
        case .end(let code, let reason):
          await socket.close(code: code, reason: reason)
          return
        }
      }
    }
    await read(socket, downward)
    downward.finish()
    _ = await writer.value
  }

  private func read(_ socket: WebSocket, _ downward: AsyncStream<Outgoing>.Continuation) async {
    var stay: (device: String, number: UInt64)?
    for await message in socket.messages {
      do {
        try await handle(message, stay: &stay, socket, downward)
      } catch {
        downward.yield(
          .message([
            "type": "error", "place": error.place.map { .string($0) } ?? .null, "found": .string(error.found),
            "remedy": .string(error.remedy),
          ]))
        downward.yield(.end(code: 1008, error.found))
        break
      }
    }
    if let stay { core.disconnect(device: stay.device, number: stay.number) }
  }

  private func handle(
    _ message: WebSocket.Message, stay: inout (device: String, number: UInt64)?, _ socket: WebSocket,
    _ downward: AsyncStream<Outgoing>.Continuation
  ) async throws(ControlFault) {
    guard case .text(let text) = message else {
      throw ControlFault(400, "a binary message", "Send JSON texts.")
    }
    let fields = try ControlFields(
      Array(text.utf8),
      known: [
        "type", "device", "bundle", "environment", "kind", "number", "request", "keepsBudget", "keepsActivities",
        "activity", "hearsFates", "allowed",
      ]
        + ActivityJSON.startFields)
    let type = try fields.text("type") ?? ""
    guard let device = stay?.device else {
      guard type == "hello" else {
        throw ControlFault(400, at: "type", "\"\(type.shortened)\" before hello", "Say hello with the device first.")
      }
      let device = try fields.name("device")
      downward.yield(.message(["type": "welcome", "device": .string(device)]))
      var end = CourierEnd { handover, _ in Self.push(handover, socket, downward) }
      end.replaced = { downward.yield(.end(code: 4001, "another courier came for the device")) }
      end.overflowed = { downward.yield(.end(code: 4002, "too many pushes wait for an acknowledgement")) }
      end.renewed = { renewals in
        for renewal in renewals { downward.yield(.message(Self.news(of: renewal))) }
      }
      end.changed = { [clock = core.clock] in Self.activity($0, now: clock.now, downward) }
      end.keepsBudget = try fields.flag("keepsBudget") ?? false
      end.keepsActivities = try fields.flag("keepsActivities") ?? false
      if try fields.flag("hearsFates") ?? false {
        end.fated = { downward.yield(.message(Self.news(of: $0))) }
      }
      end.isOverWire = true
      let number = core.connect(device: device, end)
      stay = (device, number)
      return
    }
    switch type {
    case "token":
      let owner = TokenRecord.Owner(
        device: device, bundleID: try fields.name("bundle"),
        environment: try fields.word("environment", default: .sandbox), kind: try fields.word("kind", default: .app),
        detail: try fields.text("attributesType") ?? "")
      let record = core.withState { state, _ in state.issueToken(to: owner) }
      do { try await keeper?.flush() } catch { throw ControlFault(503, error.what, error.remedy) }
      var answer: JSONObject = [
        "type": "token", "bundle": .string(owner.bundleID), "environment": .string(owner.environment.rawValue),
        "kind": .string(owner.kind.rawValue), "topic": .string(record.topicText), "token": .string(record.bytes.hex),
      ]
      if let request = fields.value("request") { answer["request"] = request }
      downward.yield(.message(answer))
    case "ack":
      guard let number = fields.value("number")?.number?.int64, number >= 0 else {
        throw ControlFault(400, at: "number", "it is no number", "Give the number of the push.")
      }
      let next = core.acknowledge(device: device, number: UInt64(number), courier: stay?.number ?? 0)
      if let next { Self.push(next, socket, downward) }
    case "uninstall":
      let bundle = try fields.name("bundle")
      let count = core.withState { state, now in state.uninstall(device: device, bundleID: bundle, now: now) }
      downward.yield(
        .message(["type": "uninstalled", "bundle": .string(bundle), "tokens": .number(JSONNumber(count))]))
    case "alerts":
      let bundle = try fields.name("bundle")
      guard let isAllowed = try fields.flag("allowed") else {
        throw ControlFault(400, at: "allowed", "it is missing", "Say true or false.")
      }
      core.setAlertsAllowed(device: device, bundleID: bundle, isAllowed)
      downward.yield(
        .message(["type": "alerts", "bundle": .string(bundle), "allowed": .bool(isAllowed)]))
    case "ping":
      downward.yield(.message(["type": "pong", "request": fields.value("request") ?? .null]))
    case "subscribe", "unsubscribe": try listen(type == "subscribe", fields, device: device, downward)
    case "activity": _ = try ActivityJSON.start(fields, device: device, core)
    case "activity-token", "activity-dismissed":
      try change(activity: try fields.text("activity") ?? "", type, device: device)
    default:
      throw ControlFault(
        400, at: "type", "\"\(type.shortened)\" is not known",
        "Known are token, ack, uninstall, alerts, ping, subscribe, unsubscribe, activity, activity-token, "
          + "activity-dismissed."
      )
    }
  }

  private func listen(
    _ isOn: Bool, _ fields: ControlFields, device: String, _ downward: AsyncStream<Outgoing>.Continuation
  ) throws(ControlFault) {
    let app = ChannelRegistry.App(
      bundleID: try fields.name("bundle"), environment: try fields.word("environment", default: .sandbox))
    let key = ChannelRegistry.Key(app: app, id: try fields.text("channel") ?? "")
    var answer: JSONObject = [
      "type": isOn ? "subscribed" : "unsubscribed", "bundle": .string(app.bundleID), "channel": .string(key.id),
    ]
    if let request = fields.value("request") { answer["request"] = request }
    if isOn {
      do throws(Refusal) { _ = try core.attempt { state, _ throws(Refusal) in try state.channels.channel(key) } } catch
      {
        answer["error"] = .string(error.explanation)
      }
    }
    downward.yield(.message(answer))
    guard answer["error"] == nil else { return }
    if isOn {
      try? core.attempt { state, now throws(Refusal) in try state.subscribe(device: device, to: key, now: now) }
    } else {
      core.withState { state, now in _ = state.unsubscribe(device: device, from: key, now: now) }
    }
  }

  /// What a phone is told of a new token that it did not ask for.
  static func news(of renewal: TokenRenewal) -> JSONObject {
    [
      "type": "token", "bundle": .string(renewal.bundleID), "environment": .string(renewal.environment.rawValue),
      "kind": .string(renewal.kind.rawValue), "topic": .string(renewal.topic), "token": .string(renewal.token.hex),
      "former": .string(renewal.former.hex), "reason": .string(renewal.reason.rawValue),
    ]
  }

  /// What a phone is told of a push that did not come.
  private static func news(of fate: PushNews) -> JSONObject {
    [
      "type": "fate", "id": .string(fate.id), "bundle": .string(fate.bundleID), "metric": .string(fate.metric.words),
    ]
  }

  private func change(activity id: String, _ type: String, device: String) throws(ControlFault) {
    let isKnown = core.withState { state, now in
      guard state.activities.entries[id]?.place.device == device else { return false }
      if type == "activity-token" { return state.changeToken(ofActivity: id, now: now) != nil }
      _ = state.handle(activity: id, .userDismissed, now: now)
      return true
    }
    guard isKnown else {
      throw ControlFault(
        404, at: "activity", "there is no running activity \(id.shortened)", "Give an id from activity.")
    }
  }

  private static func activity(
    _ entry: ActivityBoard.Entry, now: Instant, _ downward: AsyncStream<Outgoing>.Continuation
  ) {
    downward.yield(
      .message(["type": "activity", "activity": ActivityJSON.value(of: entry, now: now)]))
  }

  private static func push(
    _ handover: ServiceState.Handover, _ socket: WebSocket, _ downward: AsyncStream<Outgoing>.Continuation
  ) {
    var object: JSONObject = ["type": "push", "number": .number(JSONNumber(handover.number))]
    object.members += NotificationJSON.headers(of: handover.push).members
    object["receivedAt"] = .number(JSONNumber(handover.push.receivedAt.milliseconds))
    if let payload = String(validating: handover.push.payload, as: UTF8.self) {
      object["payload"] = .string(payload)
    } else {
      object["payloadBase64"] = .string(handover.push.payload.base64)
    }
    switch downward.yield(.message(object)) {
    case .enqueued, .terminated: break
    case .dropped: Task { await socket.abort() }  // it does not read: what it missed waits again
    @unknown default: break
    }
  }
}
