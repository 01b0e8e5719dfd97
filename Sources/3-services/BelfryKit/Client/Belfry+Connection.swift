internal import Foundation

/// Feeds the connection's events and performs its effects.
extension Belfry {
  /// One attempt: its socket, and what is still to be written on it.
  final class Line: Sendable {
    let number: Int
    let toSend: AsyncStream<String>.Continuation
    /// Opens, writes and reads; ends with the socket.
    let reading: Task<Void, Never>

    init(_ number: Int, _ toSend: AsyncStream<String>.Continuation, reading: Task<Void, Never>) {
      self.number = number
      self.toSend = toSend
      self.reading = reading
    }
  }

  /// The app came to front: it connects, and says what waited.
  public func enterForeground() async {
    await load()
    await handle(.foreground)
    tryWaiting()
  }

  /// The app left the front: the connection ends within a second (D-304).
  public func enterBackground() async { await handle(.background) }

  /// What was lost is made again at once when there is a network again.
  public func networkChanged(_ change: NetworkChange) async {
    await handle(.network(change))
    if change != .lost { tryWaiting() }
  }

  /// Tries now, also after `refused`, `replaced` and `stopped`.
  public func reconnect() async { await handle(.retry) }

  func handle(_ event: MessageConnection.Event) async {
    if isClosed, event != .background { return }
    let effects = connection.handle(event, now: clock.now, chance: Double.random(in: 0..<1))
    await perform(effects)
  }

  private func timeCheck() async {
    await perform(connection.timeCheck(now: clock.now, chance: Double.random(in: 0..<1)).effects)
  }

  private func perform(_ effects: [MessageConnection.Effect]) async {
    setAlarm()
    for effect in effects { await perform(effect) }
  }

  private func setAlarm() {
    alarm?.cancel()
    let next = connection.nextCheck
    guard next < .max else {
      alarm = nil
      return
    }
    alarm = Task { [weak self, clock] in
      guard (try? await clock.sleep(milliseconds: next - clock.now)) != nil else { return }
      await self?.timeCheck()
    }
  }

  private func perform(_ effect: MessageConnection.Effect) async {
    switch effect {
    case .connect(let number): connect(number)
    case .hello(let number): await greet(number)
    case .send(let number, let frame): send(frame, on: number)
    // what is to be sent leaves first
    case .close(let number): if line?.number == number { line?.toSend.finish() }
    case .abandon(let number): if line?.number == number { line?.reading.cancel() }
    case .keep(let number, let seq, let event): await keep(event, seq, on: number)
    case .status(let status): tell(status)
    case .wantsRead: await sayRead()
    case .readTaken(let ids): try? await store.readTaken(ids)
    case .registerAnew: renew()
    case .incomplete: tell(.messagesMissed)
    case .answer(let request, let page): waitingForHistory.removeValue(forKey: request)?.resume(returning: page)
    case .unanswered(let request): waitingForHistory.removeValue(forKey: request)?.resume(returning: nil)
    }
  }

  private func connect(_ number: Int) {
    guard let url = configuration.gatewayURL else { return }
    let (frames, toSend) = AsyncStream<String>.makeStream()
    let reading = Task { [weak self, transport] in
      guard let socket = try? await transport.open(url) else {
        await self?.handle(.closed(number, code: nil))
        return
      }
      await withTaskCancellationHandler {
        let writing = Task {
          for await frame in frames {
            guard (try? await socket.send(frame)) != nil else { return }
          }
          await socket.close()
        }
        await self?.handle(.opened(number))
        while true {
          switch await socket.receive() {
          case .text(let text):
            guard let frame = ServerFrame(text) else { continue }
            await self?.handle(.received(number, frame))
          case .closed(let code):
            toSend.finish()
            await writing.value
            await self?.handle(.closed(number, code: code))
            return
          }
        }
      } onCancel: {
        socket.abandon()
      }
    }
    line = Line(number, toSend, reading: reading)
  }

  private func greet(_ number: Int) async {
    guard let registration else { return }
    do throws(BelfryFault) {
      let cursor = try await store.cursor()
      send(
        .hello(app: registration.appKey, device: registration.id, secret: registration.secret, cursor: cursor),
        on: number)
    } catch {
      await handle(.notKept(number))
    }
  }

  private func send(_ frame: ClientFrame, on number: Int) {
    if line?.number == number { line?.toSend.yield(frame.text) }
  }

  /// Returns once it is on the disk, so that the next is read only then.
  private func keep(_ event: MessageEvent, _ seq: Int64, on number: Int) async {
    do throws(BelfryFault) {
      if try await store.keep(event, seq: seq) { wakeReader() }
    } catch {
      return await handle(.notKept(number))
    }
    await handle(.kept(number, seq: seq))
  }

  func sayRead() async {
    guard let ids = try? await store.toSayRead() else { return }
    await handle(.read(ids))
  }
}
