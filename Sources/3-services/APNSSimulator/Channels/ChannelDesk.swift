internal import Basics
internal import PushPayload
internal import Transport

/// Answers requests about channels and broadcasts. Owned by a connection, on its loop: `trust` is the connection's.
struct ChannelDesk {
  let core: SimulatorCore

  /// `POST /4/broadcasts/apps/<bundle>` (Apple, "Sending broadcast push notification requests to APNs").
  func broadcast(
    _ request: ChannelRequest, isStopping: Bool = false, mark: FaultMark? = nil, trust: inout ConnectionTrust,
    environment: SimulatedEnvironment, dice: inout Dice
  ) -> ProviderAnswer {
    let uniqueID = UUIDBits(version4: dice.next(), dice.next()).text
    return answer(request, isStopping, &dice) { id, now throws(Refusal) in
      guard case .broadcast(let bundleID) = request.place else {
        throw Refusal(
          .badPath, "the path is \"\(text(request.path))\"; a broadcast goes to /4/broadcasts/apps/<bundle>")
      }
      guard ChannelChecks.isMethod(request, "POST") else { throw ChannelChecks.methodFault(request, "POST") }
      try RequestChecks.messageID(request.requestID, "apns-request-id")
      let app = try app(bundleID, request, &trust, environment, now)
      try core.attempt { state, _ throws(Refusal) in try state.channels.demand(bundleID) }
      let checked = try ChannelChecks.broadcast(request, app)
      try core.attempt { state, now throws(Refusal) in
        try state.broadcast(checked, request, requestID: id, uniqueID: uniqueID, mark: mark, now: now)
      }
      return ProviderAnswer(200, requestID: id, [("apns-unique-id", uniqueID)])
    }
  }

  /// `/1/apps/<bundle>/channels` and `/all-channels` (Apple, "Sending channel management requests to APNs").
  func management(
    _ request: ChannelRequest, isStopping: Bool = false, trust: inout ConnectionTrust,
    environment: SimulatedEnvironment, dice: inout Dice
  ) -> ProviderAnswer {
    answer(request, isStopping, &dice) { id, now throws(Refusal) in
      switch request.place {
      case .allChannels(let bundleID):
        guard ChannelChecks.isMethod(request, "GET") else { throw ChannelChecks.methodFault(request, "GET") }
        try RequestChecks.messageID(request.requestID, "apns-request-id")
        let app = try app(bundleID, request, &trust, environment, now)
        let ids = try core.attempt { state, _ throws(Refusal) in
          try state.channels.demand(bundleID)
          return state.channels.list(app)
        }
        return ProviderAnswer(200, requestID: id, body: ["channels": .array(ids.map(JSONValue.string))])
      case .channels(let bundleID):
        let isPost = ChannelChecks.isMethod(request, "POST")
        let isDelete = ChannelChecks.isMethod(request, "DELETE")
        guard isPost || isDelete || ChannelChecks.isMethod(request, "GET") else {
          throw ChannelChecks.methodFault(request, "POST, GET and DELETE")
        }
        try RequestChecks.messageID(request.requestID, "apns-request-id")
        let app = try app(bundleID, request, &trust, environment, now)
        try core.attempt { state, _ throws(Refusal) in try state.channels.demand(bundleID) }
        if isPost {
          let policy = try ChannelChecks.creation(request.body)
          let channel = try core.attempt { state, now throws(Refusal) in
            try state.createChannel(app, policy: policy, now: now)
          }
          return ProviderAnswer(201, requestID: id, [("apns-channel-id", channel)])
        }
        let key = ChannelRegistry.Key(app: app, id: try ChannelChecks.channelID(request))
        if isDelete {
          try core.attempt { state, _ throws(Refusal) in try state.channels.delete(key) }
          return ProviderAnswer(204, requestID: id)
        }
        let policy = try core.attempt { state, _ throws(Refusal) in try state.channels.channel(key).policy }
        return ProviderAnswer(
          200, requestID: id,
          body: ["message-storage-policy": .number(JSONNumber(policy.rawValue)), "push-type": "LiveActivity"])
      case .broadcast, nil:
        throw Refusal(
          .badPath, "the path is \"\(text(request.path))\"; channels are at /1/apps/<bundle>/channels and /all-channels"
        )
      }
    }
  }

  /// What was made, deleted or stored is told once it is written: `then` gets the answer, on the connection's loop.
  func onceKept(
    _ answer: ProviderAnswer, _ request: ChannelRequest, on loop: EventLoop, then: @escaping (ProviderAnswer) -> Void
  ) {
    guard answer.reason == nil, !ChannelChecks.isMethod(request, "GET"), core.keeper != nil else { return then(answer) }
    nonisolated(unsafe) let then = then  // goes back to the loop that it came from
    core.whenWritten { [core] refusal in
      loop.execute {
        guard let refusal else { return then(answer) }
        let id = (answer.fields.first?.value ?? [])[...]
        core.note(refusal, id: id, path: request.path, topic: nil, now: core.clock.now)
        then(ProviderAnswer(refusal, requestID: id, spelling: core.spelling))
      }
    }
  }

  private func answer(
    _ request: ChannelRequest, _ isStopping: Bool, _ dice: inout Dice,
    _ body: (_ id: Bytes, _ now: Instant) throws(Refusal) -> ProviderAnswer
  ) -> ProviderAnswer {
    let now = core.clock.now
    let id = answerID(to: request, &dice)
    do throws(Refusal) {
      if isStopping { throw Refusal(.shutdown, "the service is stopping; send it again on a new connection") }
      try core.admit(now: now)
      return try body(id, now)
    } catch {
      core.note(error, id: id, path: request.path, topic: nil, now: now)
      return ProviderAnswer(error, requestID: id, spelling: core.spelling)
    }
  }

  /// The request's own when it is a UUID; else a new one in capitals.
  func answerID(to request: ChannelRequest, _ dice: inout Dice) -> Bytes {
    if let given = request.requestID, UUIDText.isCanonical(given) { return given }
    return UUIDText.version4(dice.next(), dice.next(), upperCase: true)[...]
  }

  func app(
    _ bundleID: String, _ request: ChannelRequest, _ trust: inout ConnectionTrust, _ environment: SimulatedEnvironment,
    _ now: Instant
  ) throws(Refusal) -> ChannelRegistry.App {
    let (grant, environment) = try authenticate(request, &trust, environment, now)
    try ChannelChecks.app(bundleID, grant: grant)
    return ChannelRegistry.App(bundleID: bundleID, environment: environment)
  }

  /// Judges the credential of a request, and nothing else of it.
  func authenticate(
    _ request: ChannelRequest, _ trust: inout ConnectionTrust, _ environment: SimulatedEnvironment, _ now: Instant
  ) throws(Refusal) -> (ConnectionTrust.Grant, SimulatedEnvironment) {
    let environment = request.host.flatMap { SimulatedEnvironment(host: $0) } ?? environment
    let grant = try trust.authenticate(
      request.authorization, environment: environment, now: now, rules: core.checks.rules.trust,
      directory: core.providers)
    return (grant, environment)
  }
}
