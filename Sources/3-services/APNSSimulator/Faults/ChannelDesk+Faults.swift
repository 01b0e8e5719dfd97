internal import Basics
internal import PushPayload
internal import Transport

/// A connection's way to answer requests about channels while faults are set. On its loop.
struct ChannelExchange {
  var loop: EventLoop
  var faults: ConnectionFaults
  /// What the request is answered without a fault in the way; the mark is left on what is broadcast.
  var natural: (FaultMark?) -> ProviderAnswer
  /// Looks at the credential only, since it counts whatever becomes of the request.
  var prove: () -> Void
  /// The id that a refusal by fault carries.
  var answerID: () -> Bytes
  var answer: (ProviderAnswer) -> Void
}

extension ChannelDesk {
  func enter(_ request: ChannelRequest, _ subject: FaultSubject, _ exchange: ChannelExchange) {
    let id = request.requestID.map { text($0) } ?? ""
    switch exchange.faults.meet(subject, id: id) {
    case .nothing: break
    case .natural:
      onceKept(exchange.natural(nil), request, on: exchange.loop, then: exchange.answer)
    case .answer(let fault, let rule, let delay):
      let given = judge(request, fault, rule: rule, exchange)
      exchange.faults.reply(fault, to: subject.stream, after: delay) {
        onceKept(given, request, on: exchange.loop, then: exchange.answer)
      }
    }
  }

  /// The answer with a fault in the way. The request takes effect if the answer says so, or the fault does.
  private func judge(
    _ request: ChannelRequest, _ fault: FaultAction.Answer, rule: String, _ exchange: ChannelExchange
  ) -> ProviderAnswer {
    let words = fault.words(of: rule)
    switch fault.reply {
    case .natural:
      return fault.adorned(exchange.natural(FaultMark(words: words, isLost: fault.delivers == false)))
    case .refuse, .raw, .resetStream, .none:
      if fault.delivers ?? fault.isSuccess { _ = exchange.natural(FaultMark(words: words)) } else { exchange.prove() }
      let id = exchange.answerID()
      let now = core.clock.now
      if let refusal = fault.refusal(words: words, now: now) {
        core.note(refusal, id: id, path: request.path, topic: nil, now: now)
      }
      return fault.ownAnswer(now: now) { ProviderAnswer($0, requestID: id) }
    }
  }

  func subject(
    of request: ChannelRequest, stream: Int32, connection: UInt64, environment: SimulatedEnvironment,
    port: FaultRule.Port
  ) -> FaultSubject {
    var subject = FaultSubject(moment: .request, connection: connection, environment: environment, port: port)
    subject.stream = stream
    subject.channel = request.channelID.map { String(decoding: $0, as: UTF8.self) }
    subject.pushType = .liveactivity
    switch request.place {
    case .broadcast(let bundleID), .channels(let bundleID), .allChannels(let bundleID): subject.topic = bundleID
    case nil: break
    }
    return subject
  }
}
