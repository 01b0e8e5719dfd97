import APNSSimulator
import Basics
import HTTPClient
import Phone
import PhoneLab
import PushPayload
import Transport

/// Phones of this process at a `belfry apns` that runs elsewhere: what they hold at the APNs of this process (tokens,
/// channels, networks, alerts turned off) is told there in order, and what its couriers bring is handed to them.
actor PhoneMirror {
  private let line: ControlLine
  private let phones: LocalAPNS
  private let lab: PhoneLab
  private var told = PhoneHoldings()
  private var stays: [String: CourierStay] = [:]
  private var lastTelling: Task<Bool, Never>?
  private var isClosed = false

  /// `phones` is the APNs that the lab's phones are joined to.
  init(_ line: ControlLine, phones: LocalAPNS, lab: PhoneLab) {
    self.line = line
    self.phones = phones
    self.lab = lab
    phones.believeEveryChannel()
  }

  /// Tells what is news since the last time, one telling after another; false: nothing was.
  @discardableResult
  func settle() async -> Bool {
    let telling = Task { [lastTelling] in
      _ = await lastTelling?.value
      return await self.tell()
    }
    lastTelling = telling
    return await telling.value
  }

  /// Returns once everything that APNs had for the phones when it was called has happened on them. False: it had nothing.
  func fence() async -> Bool {
    var brought = false
    for device in stays.keys.sorted() { if await stays[device]?.fence() == true { brought = true } }
    return brought
  }

  func close() async {
    isClosed = true
    for stay in stays.values { await stay.close() }
  }

  private func tell() async -> Bool {
    let now = phones.holdings
    guard now != told else { return false }
    let former = told
    told = now
    for device in now.isOnline.keys.sorted() where stays[device] == nil {
      stays[device] = await CourierStay(
        at: line, device: device, hear: { [weak self] in await self?.hear($0, at: device) },
        lost: { [weak self] in await self?.lost(device) })
    }
    // the dead first, so that of an app's tokens the living one is told last
    for (token, owner) in now.tokens.filter({ $0.value.end != nil }) + now.tokens.filter({ $0.value.end == nil }) {
      let known = former.tokens[token]
      if known == nil { await line.register(token, owner) }
      if let end = owner.end, known?.end == nil { await line.end(token, end) }
    }
    for app in now.turnedOff.symmetricDifference(former.turnedOff) {
      await stays[app.device]?.say([
        "type": "alerts", "bundle": .string(app.bundleID), "allowed": .bool(!now.turnedOff.contains(app)),
      ])
    }
    for one in former.subscriptions.subtracting(now.subscriptions) { _ = await line.listen(one, false) }
    for one in now.subscriptions.subtracting(former.subscriptions) {
      if let why = await line.listen(one, true) { await refuse(one, why) }
    }
    for (device, isOnline) in now.isOnline where former.isOnline[device] ?? true != isOnline {
      await line.setOnline(isOnline, device: device)
    }
    return true
  }

  /// APNs ended, or started anew: what it may have forgotten is told again as soon as it is there.
  private func lost(_ device: String) async {
    stays[device] = nil
    while !isClosed, stays[device] == nil {
      guard (try? await Task.sleep(for: .seconds(1))) != nil, await line.isThere else { continue }
      told = PhoneHoldings()
      await settle()
    }
  }

  /// There is no such channel, which only the other side can know.
  private func refuse(_ one: PhoneHoldings.Subscription, _ why: String) async {
    phones.courier.unsubscribe(
      device: one.device, bundle: one.bundleID, environment: one.environment, channel: one.channel)
    told.subscriptions.remove(one)
    await lab.perform(.channelRefused(bundleID: one.bundleID, channel: one.channel, reason: why), on: one.device)
  }

  private func hear(_ news: CourierStay.News, at device: String) async {
    switch news {
    case .push(let push): await lab.perform(.push(push), on: device)
    case .fate(let id, let bundleID, let metric):
      await lab.perform(.pushFate(pushID: id, bundleID: bundleID, metric), on: device)
    case .renewal(let former, let token, let reason):
      phones.renew(former, to: token, reason: reason)
      let now = phones.holdings
      for bytes in [former, token] { told.tokens[bytes] = now.tokens[bytes] }
    }
  }
}

/// A phone's place at the courier of a running `belfry apns`.
actor CourierStay {
  enum News: Sendable {
    case push(DeliveredPayload)
    case fate(id: String, bundleID: String, DeliveryMetric)
    case renewal(former: [UInt8], token: [UInt8], RenewalReason)
  }

  private let socket: WebSocket
  private let hear: @Sendable (News) async -> Void
  private var heard = 0
  private var pings = 0
  /// By the number of the ping.
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  private var isOver = false
  private var isClosed = false

  /// Another phone of the same name came, which is to stay there.
  private static let replaced: UInt16 = 4001

  /// Says hello; nil when nobody answers. `hear` is called for one news after another, in the order of the courier, `lost`
  /// when it is gone and neither `close` nor another phone of the same name is the cause.
  init?(
    at line: ControlLine, device: String, hear: @escaping @Sendable (News) async -> Void,
    lost: @escaping @Sendable () async -> Void
  ) async {
    guard let socket = await line.courier() else { return nil }
    self.socket = socket
    self.hear = hear
    await say([
      "type": "hello", "device": .string(device), "keepsBudget": true, "keepsActivities": true, "hearsFates": true,
    ])
    Task { [weak self] in
      for await message in socket.messages {
        guard case .text(let text) = message, let object = try? JSONReader.read(Array(text.utf8)).value.object else {
          continue
        }
        await self?.take(object)
      }
      let isWanted = await self?.end() ?? false
      if isWanted, await socket.closing?.code != Self.replaced { await lost() }
    }
    _ = await fence()  // there, the phone is known from then on
  }

  func say(_ object: JSONObject) async { try? await socket.send(JSONValue.object(object).text) }

  /// Returns once all that was for the phone before has been heard; what is heard meanwhile may have more behind it.
  /// False: nothing was.
  func fence() async -> Bool {
    let before = heard
    var last: Int
    repeat {
      last = heard
      await ping()
    } while heard != last && !isOver
    return heard != before
  }

  func close() async {
    isClosed = true
    end()
    await socket.close()
  }

  private func ping() async {
    guard !isOver else { return }
    pings += 1
    let number = pings
    let text = JSONValue.object(["type": "ping", "request": .number(JSONNumber(number))]).text
    await withCheckedContinuation { continuation in
      waiting[number] = continuation
      Task { [socket, weak self] in
        do { try await socket.send(text) } catch { await self?.end() }
      }
    }
  }

  /// Whether nobody has closed it.
  @discardableResult
  private func end() -> Bool {
    isOver = true
    let left = waiting
    waiting = [:]
    for continuation in left.values { continuation.resume() }
    return !isClosed
  }

  private func take(_ object: JSONObject) async {
    switch object["type"]?.string {
    case "pong":
      guard let number = object["request"]?.number?.int64 else { return }
      waiting.removeValue(forKey: Int(clamping: number))?.resume()
    case "push":
      guard let number = object["number"] else { return }
      if let push = DeliveredPayload(courier: object) { await hear(.push(push)) }
      heard += 1
      await say(["type": "ack", "number": number])
    case "fate":
      let words = object["metric"]?.string
      guard let id = object["id"]?.string, let bundleID = object["bundle"]?.string,
        let metric = DeliveryMetric.allCases.first(where: { $0.words == words })
      else { return }
      await hear(.fate(id: id, bundleID: bundleID, metric))
      heard += 1
    case "token":
      guard let former = object["former"]?.string.flatMap({ bytes(fromHex: $0.utf8) }),
        let token = object["token"]?.string.flatMap({ bytes(fromHex: $0.utf8) }),
        let reason = object["reason"]?.string.flatMap(RenewalReason.init(rawValue:))
      else { return }
      await hear(.renewal(former: former, token: token, reason))
      heard += 1
    case .some, .none: break
    }
  }
}

extension DeliveredPayload {
  /// As the courier over the wire writes a push.
  fileprivate init?(courier object: JSONObject) {
    guard let id = object["id"]?.string, let bundleID = object["bundle"]?.string else { return nil }
    let text = object["payload"]?.string.map { Array($0.utf8) }
    let token = object["token"]?.string.flatMap { Basics.bytes(fromHex: $0.utf8) }
    self.init(
      id: id, bundleID: bundleID,
      pushType: object["pushType"]?.string.flatMap(PushType.init(rawValue:)) ?? .alert,
      priority: object["priority"]?.number?.int64.flatMap { UInt8(exactly: $0) }.flatMap(PushPriority.init(rawValue:))
        ?? .immediate,
      collapseID: object["collapseId"]?.string,
      expiration: object["expiration"]?.number?.int64.map { Instant(seconds: $0) },
      acceptedAt: object["receivedAt"]?.number?.int64.map { Instant(milliseconds: $0) }, token: token,
      channel: object["channel"]?.string,
      bytes: text ?? object["payloadBase64"]?.string.flatMap { Basics.bytes(fromBase64: $0.utf8) } ?? [])
  }
}
