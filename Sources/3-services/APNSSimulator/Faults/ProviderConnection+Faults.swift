internal import Basics
internal import PushPayload
internal import Transport

/// The way of a request while faults are set.
extension ProviderConnection {
  func enter(_ request: HTTP2Request, _ sorted: PushRequest, stream: Int32, meeting desk: FaultDesk) {
    let subject = subject(of: sorted, stream: stream, asksDevice: desk.needsDevice)
    let id = sorted[.messageID].map { text($0) } ?? ""
    switch faults.meet(subject, id: id) {
    case .nothing: break
    case .natural: answer(stream, judge(sorted, body: request.body, excess: request.excess), to: sorted)
    case .answer(let fault, let rule, let delay):
      let verdict = judge(sorted, request, fault, rule: rule)
      faults.reply(fault, to: stream, after: delay) { [weak self] in self?.answer(stream, verdict, to: sorted) }
    }
  }

  private func subject(of request: PushRequest, stream: Int32, asksDevice: Bool) -> FaultSubject {
    var subject = FaultSubject(moment: .request, connection: number, environment: environment)
    subject.stream = stream
    let path = request.path
    if let slash = path.lastIndex(of: UInt8(ascii: "/")) { subject.token = bytes(fromHex: path[(slash + 1)...]) ?? [] }
    if let topic = request[.topic] { subject.topic = String(decoding: topic, as: UTF8.self) }
    subject.pushType =
      request[.pushType].flatMap { PushType(bytes: $0) } ?? request[.topic].flatMap(TopicSuffix.pushType) ?? .alert
    if asksDevice {
      let token = subject.token
      subject.device = core.withState { state, _ in state.registry.records[token]?.owner.device }
    }
    return subject
  }

  /// What the request is answered with a fault in the way; takes the push if the phone shall get it.
  private func judge(
    _ request: PushRequest, _ whole: HTTP2Request, _ fault: FaultAction.Answer, rule: String
  ) -> Verdict {
    let words = fault.words(of: rule)
    switch fault.reply {
    case .natural:
      let mark = FaultMark(words: words, isLost: fault.delivers == false)
      switch judge(request, body: whole.body, excess: whole.excess, mark: mark) {
      case .now(let answer): return .now(fault.adorned(answer))
      case .onceKept(let answer, let id): return .onceKept(fault.adorned(answer), id: id)
      }
    case .refuse, .raw, .resetStream, .none:
      // Judged all the same: the provider's token counts, and with `delivers` the phone gets the push.
      let id = answerID(to: request)
      let now = core.clock.now
      let checked = try? core.checks.check(
        request, body: whole.body, trust: &trust, defaultEnvironment: environment, now: now, directory: core.providers)
      if trust.isProven { prove() }
      let delivers = fault.delivers ?? fault.isSuccess
      if let checked, delivers {
        _ = try? core.accept(checked, id: id, uniqueID: nil, body: whole.body, mark: FaultMark(words: words), now: now)
      }
      if let refusal = fault.refusal(words: words, now: now) {
        core.note(refusal, id: id, request: request, now: now)
      }
      return .now(fault.ownAnswer(now: now) { ProviderAnswer(status: $0, id: id) })
    }
  }
}
