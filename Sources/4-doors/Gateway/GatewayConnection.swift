internal import Basics
internal import Messages
internal import Store
internal import Transport

/// Gives one connection's events to its session and performs what that answers. Everything on the connection's loop.
final class GatewayConnection: WebSocketOwner, @unchecked Sendable {  // guarded by the connection's loop
  private let connection: WebSocketConnection
  private let gateway: Gateway
  private let table: SessionTable
  let number: UInt64
  private var session: Session

  init(_ connection: WebSocketConnection, _ gateway: Gateway, _ table: SessionTable) {
    self.connection = connection
    self.gateway = gateway
    self.table = table
    number = gateway.presence.nextNumber()
    session = Session(gateway.settings.times, gateway.settings.heartbeat, now: connection.now)
    table.add(self)
    connection.checkTime(at: connection.now + gateway.settings.times.hello.milliseconds)
  }

  // MARK: From the socket

  func received(_ message: WebSocket.Message) {
    switch message {
    case .text(let text):
      do throws(FrameFault) { take(.frame(try ClientFrame(Array(text.utf8)))) } catch { take(.fault(error)) }
    case .binary:
      take(.fault(FrameFault(place: "", found: "a binary message", remedy: "Send texts of JSON.")))
    }
  }

  func receivedPong() { take(.pong) }
  func writable() { take(.writable) }

  func timeCheck(now: Int64) -> Int64 {
    let (effects, next) = session.timeCheck(now: now)
    perform(effects, nil)
    return next
  }

  func closed(_ closing: WebSocket.Closing) {
    take(.closed)
    table.remove(self)
  }

  // MARK: From others, on the loop

  func announced(_ entry: InboxEntry, from: Int64, _ frame: [UInt8]) { take(.announced(entry, from: from), frame) }

  func drain(after milliseconds: Int64) { take(.drain(after: milliseconds)) }

  func end(_ end: SessionEnd) { take(.ended(end)) }

  func cut() { connection.abort("the service stops") }

  // MARK: Effects

  private func take(_ event: Session.Event, _ frame: [UInt8]? = nil) {
    perform(session.handle(event, now: connection.now), frame)
    connection.checkTime(at: session.nextCheck)
  }

  private func perform(_ effects: [Session.Effect], _ frame: [UInt8]?) {
    for effect in effects { perform(effect, frame) }
  }

  private func perform(_ effect: Session.Effect, _ frame: [UInt8]?) {
    let service = gateway.service
    switch effect {
    case .enter(let hello): enter(hello)
    case .welcome(let entrance, let heartbeat):
      send(ServerFrame.welcome(entrance, heartbeat: heartbeat))
    case .send(let entry): send(ServerFrame.entry(entry))
    case .sendAnnounced: if let frame { sendFrame(frame) }
    case .sendPong: send(ServerFrame.pong)
    case .sendFault(let fault): send(ServerFrame.error(fault))
    case .sendHeartbeat(let seconds): send(ServerFrame.heartbeat(seconds))
    case .sendDraining(let after): send(ServerFrame.draining(after: after))
    case .read(let device, let range):
      ask {
        await service.page(device, range)
      } then: {
        $0.take($1.map { .page($0) } ?? .unavailable)
      }
    case .acknowledge(let acknowledgement): service.acknowledge(acknowledgement)
    case .noteRead(let device, let ids):
      ask {
        await service.noteRead(device, ids: ids)
      } then: { connection, _ in
        connection.take(.noted)
      }
    case .history(let device, let request):
      ask {
        await service.history(device, request)
      } then: { connection, page in
        guard let page else { return connection.take(.unavailable) }
        connection.send(ServerFrame.history(page, request: request))
        connection.take(.answered)
      }
    case .appear(let device):
      switch gateway.presence.enter(device, number, self) {
      case .entered(let old):
        if let old { old.connection.loop.execute { old.end(.replaced) } }
      case .tooLate:
        let loop = connection.loop
        loop.execute { self.end(.replaced) }
      }
    case .disappear(let device):
      gateway.presence.leave(device, number, at: gateway.clock.now)
      if session.device == nil { table.leave(device, self) }
    case .ping: connection.ping()
    case .rememberLoss(let device, let heartbeat): service.rememberLoss(device, heartbeat: heartbeat)
    case .close(let end): connection.close(code: end.rawValue, reason: end.words)
    }
  }

  private func enter(_ hello: Hello) {
    let ended = gateway.endings.withLock { $0.count }
    ask { [service = gateway.service] in
      await service.enter(hello)
    } then: {
      $0.entered(hello, $1, since: ended)
    }
  }

  private func entered(_ hello: Hello, _ answer: MessageService.Answer, since ended: UInt64) {
    switch answer {
    case .admitted(let entrance):
      // what ends from here on finds it in the table
      let mayHaveEnded = gateway.endings.withLock { $0.mayHaveEnded(entrance.device, since: ended) }
      guard !mayHaveEnded else { return enter(hello) }
      table.enter(entrance.device, self)
      take(.admitted(entrance))
    case .refused(let end): take(.refused(end))
    }
  }

  private func send(_ text: [UInt8]) { sendFrame(WebSocketFrame.text(text)) }

  private func sendFrame(_ frame: [UInt8]) {
    if !connection.send(frame), connection.isOpen {
      let loop = connection.loop
      loop.execute { if self.connection.isOpen, !self.connection.isWritable { self.take(.blocked) } }
    }
  }

  /// Asks off the loop and comes back to it.
  private func ask<Answer: Sendable>(
    _ question: @escaping @Sendable () async -> Answer,
    then answer: @escaping @Sendable (GatewayConnection, Answer) -> Void
  ) {
    let loop = connection.loop
    Task {
      let found = await question()
      loop.execute { answer(self, found) }
    }
  }
}
