public import APNSSimulator
internal import Basics
public import BelfryKit
internal import Foundation
public import Phone
internal import PushPayload

/// The push service as apps see it that link BelfryKit, the library itself: each app on each phone has one, with a file of its
/// own, and talks to a running service.
public final class KitPhoneService: PhoneService {
  private let configuration: @Sendable (LabApp) -> Belfry.Configuration
  private let transport: any BelfryTransport
  private let apps = Locked([LabApp: KitApp]())

  /// - Parameter configuration: of an app on a phone; no two may have the same folder.
  public init(
    transport: any BelfryTransport, configuration: @escaping @Sendable (LabApp) -> Belfry.Configuration
  ) {
    self.transport = transport
    self.configuration = configuration
  }

  public func register(_ app: LabApp, token: [UInt8], environment: SimulatedEnvironment) async -> String? {
    try? await self.app(app)?.belfry.register(
      token: token, environment: environment == .sandbox ? .sandbox : .production)
  }

  public func take(
    _ token: [UInt8], kind: Phone.TokenKind, environment: SimulatedEnvironment, of app: LabApp
  ) async {
    let belfry = self.app(app)?.belfry
    switch kind {
    case .remote: break
    case .voip: _ = try? await belfry?.setVoIPToken(token)
    case .liveActivityStart(let type): _ = try? await belfry?.setActivityStartToken(token, attributesType: type)
    case .liveActivity(let id): _ = try? await belfry?.setActivityToken(token, id: id)
    }
  }

  public func connect(_ line: MessageLine, after: Int64) async -> Bool {
    await app(line.app)?.connect(line) ?? false
  }

  public func closed(_ line: MessageLine) {
    guard let app = apps.withLock({ $0[line.app] }) else { return }
    Task { await app.closed(line) }
  }

  public func messageHistory(of app: LabApp) async -> [PhoneMessage]? { await self.app(app)?.history() }

  public func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool {
    guard let belfry = self.app(app)?.belfry else { return false }
    do throws(BelfryFault) {
      try await belfry.setOnlyScheduled(onlyScheduled)
      return true
    } catch { return false }
  }

  /// Ends every app's library.
  public func close() async {
    for app in apps.withLock({ $0.values.map(\.self) }) { await app.close() }
  }

  /// nil: its file cannot be opened.
  private func app(_ app: LabApp) -> KitApp? {
    apps.withLock { apps in
      if let known = apps[app] { return known }
      guard let belfry = try? Belfry(configuration(app), transport: transport) else { return nil }
      apps[app] = KitApp(belfry)
      return apps[app]
    }
  }
}

/// One app's library, and the line by which the phone follows it.
private actor KitApp {
  let belfry: Belfry
  /// The phone's, from the wish to connect on; messages go down once it is open.
  private var line: MessageLine?
  private var isOpen = false
  private var closedLines: Set<UInt64> = []
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var tasks: [Task<Void, Never>] = []

  /// How long an app waits for its connection before the phone says that there is none.
  private static let patience: UInt64 = 5_000_000_000

  init(_ belfry: Belfry) { self.belfry = belfry }

  func connect(_ line: MessageLine) async -> Bool {
    guard closedLines.remove(line.id) == nil else { return false }
    self.line = line
    isOpen = false
    if tasks.isEmpty { tasks = [Task { await hand() }, Task { await follow() }] }
    await belfry.enterForeground()
    let belfry = belfry
    let isConnected = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await status in await belfry.statuses() where status == .connected { return true }
        return false
      }
      group.addTask {
        try? await Task.sleep(nanoseconds: Self.patience)
        return false
      }
      defer { group.cancelAll() }
      return await group.next() ?? false
    }
    guard isConnected, self.line?.id == line.id else { return false }
    // after this has returned, so that the phone hears of the connection first
    Task { self.opened(line) }
    return true
  }

  private func opened(_ line: MessageLine) {
    guard self.line?.id == line.id else { return }
    isOpen = true
    wake()
  }

  func closed(_ line: MessageLine) async {
    guard self.line?.id == line.id else {
      // it may be told of the line's end before its beginning
      closedLines.insert(line.id)
      return
    }
    self.line = nil
    isOpen = false
    await belfry.enterBackground()
  }

  /// The app's code: gives the phone what comes, while it is there to take it.
  private func hand() async {
    for await event in belfry.messages {
      guard case .message(let message) = event else { continue }
      while !isOpen, !Task.isCancelled { await withCheckedContinuation { waiting.append($0) } }
      line?.send(PhoneMessage(message))
    }
  }

  /// A connection that the library lost is lost to the phone too.
  private func follow() async {
    var was = ConnectionStatus.connecting
    for await status in await belfry.statuses() {
      if was == .connected, status != .connected, isOpen {
        isOpen = false
        line?.cut()
      }
      was = status
    }
  }

  func history() async -> [PhoneMessage]? {
    var query: HistoryQuery? = HistoryQuery(.oldest, limit: 100)
    var messages: [PhoneMessage] = []
    while let asked = query {
      guard let page = try? await belfry.history(asked) else { return nil }
      messages += page.messages.map { PhoneMessage($0) }
      query = page.next
    }
    return messages
  }

  func close() async {
    for task in tasks { task.cancel() }
    wake()
    await belfry.close()
  }

  private func wake() {
    for one in waiting { one.resume() }
    waiting = []
  }
}

extension PhoneMessage {
  fileprivate init(_ message: BelfryKit.InAppMessage) {
    self.init(
      sequence: message.seq, messageID: Int64(message.id), title: message.title, content: message.content,
      contentType: message.contentType,
      extras: JSONObject(
        message.extras.sorted { $0.key < $1.key }.map { JSONObject.Member($0.key, JSONValue($0.value)) }))
  }
}

extension JSONValue {
  fileprivate init(_ value: ExtraValue) {
    self =
      switch value {
      case .null: .null
      case .bool(let bool): .bool(bool)
      case .integer(let integer): .number(JSONNumber(integer))
      case .number(let number): JSONNumber(number).map { .number($0) } ?? .null
      case .text(let text): .string(text)
      case .list(let list): .array(list.map { JSONValue($0) })
      case .object(let object):
        .object(JSONObject(object.sorted { $0.key < $1.key }.map { JSONObject.Member($0.key, JSONValue($0.value)) }))
      }
  }
}
