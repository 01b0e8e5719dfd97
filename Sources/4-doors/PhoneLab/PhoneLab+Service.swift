internal import APNSSimulator
internal import Basics
internal import Phone

/// What apps want of their push service, and its answers.
extension PhoneLab {
  /// How long an SDK waits before it connects again after the service ended the connection.
  static let reconnectDelay = Instant.Span.seconds(1)

  func hand(_ token: [UInt8], _ kind: Phone.TokenKind, _ environment: SimulatedEnvironment, of app: LabApp) {
    underway.begin()
    Task { [service, underway, weak self] in
      defer { underway.end() }
      guard case .remote = kind else {
        return await service.take(token, kind: kind, environment: environment, of: app)
      }
      guard let id = await service.register(app, token: token, environment: environment) else { return }
      await self?.perform(.registrationIDReceived(bundleID: app.bundleID, registrationID: id), on: app.phone)
    }
  }

  func fetchHistory(_ app: LabApp) {
    underway.begin()
    Task { [service, underway, weak self] in
      defer { underway.end() }
      guard let messages = await service.messageHistory(of: app) else { return }
      await self?.perform(.messageHistory(bundleID: app.bundleID, messages), on: app.phone)
    }
  }

  func changePreference(_ app: LabApp, _ onlyScheduled: Bool) {
    underway.begin()
    Task { [service, underway, weak self] in
      defer { underway.end() }
      let isTaken = await service.setOnlyScheduled(onlyScheduled, for: app)
      await self?.perform(
        .preferenceAnswered(bundleID: app.bundleID, onlyScheduled: onlyScheduled, accepted: isTaken), on: app.phone)
    }
  }

  // MARK: messages

  func connect(_ app: LabApp, after: Int64) {
    // A former one that the service ended is still noted here.
    let former = lines.removeValue(forKey: app)
    if let former { shut(former) }
    nextLine += 1
    let (news, stream) = AsyncStream<MessageLine.News>.makeStream()
    let line = MessageLine(app: app, id: nextLine, sink: Underway.Sink(underway: underway, stream: stream))
    lines[app] = line
    if former == nil {
      open(line, news, after: after)
    } else {
      reconnects[line.id] = Reconnect(line: line, news: news, after: after, at: clock.now + Self.reconnectDelay)
      Task { [clock, weak self] in
        guard (try? await clock.sleep(for: Self.reconnectDelay)) != nil else { return }
        await self?.reconnect(line.id)
      }
    }
  }

  /// A line that waits to be opened, since the one before it was cut.
  struct Reconnect {
    let line: MessageLine
    let news: AsyncStream<MessageLine.News>
    let after: Int64
    let at: Instant
  }

  /// By its own timer, or by whoever moves the clock: once.
  func reconnect(_ id: UInt64) {
    guard let waiting = reconnects.removeValue(forKey: id), isOpen(waiting.line) else { return }
    open(waiting.line, waiting.news, after: waiting.after)
  }

  private func open(_ line: MessageLine, _ news: AsyncStream<MessageLine.News>, after: Int64) {
    let bundleID = line.app.bundleID
    underway.begin()
    Task { [service, underway, weak self] in
      if await self?.isOpen(line) == true, await service.connect(line, after: after) {
        await self?.hear(.messagesConnected(bundleID: bundleID), by: line)
      }
      underway.end()
      for await one in news {
        switch one {
        case .message(let message): await self?.hear(.message(bundleID: bundleID, message), by: line)
        case .cut: await self?.hear(.messagesDisconnected(bundleID: bundleID), by: line)
        }
        underway.end()
      }
    }
  }

  /// The app closes its connection.
  func disconnect(_ app: LabApp) {
    if let line = lines.removeValue(forKey: app) { shut(line) }
  }

  func shut(_ line: MessageLine) {
    line.sink.stream.finish()
    service.closed(line)
  }

  private func isOpen(_ line: MessageLine) -> Bool { lines[line.app]?.id == line.id }

  /// Nothing by a connection that another has followed, or that the app closed.
  private func hear(_ event: Phone.Event, by line: MessageLine) {
    if isOpen(line) { perform(event, on: line.app.phone) }
  }
}
