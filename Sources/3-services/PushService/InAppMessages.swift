public import Audience
import Basics
public import PushPayload
import Store

/// An in-app message, as its sender wrote it (jpush.md §4.5).
public struct MessageContent: Sendable, Equatable {
  public var content: String
  public var title: String?
  public var contentType: String?
  public var extras: JSONObject?

  public init(content: String, title: String? = nil, contentType: String? = nil, extras: JSONObject? = nil) {
    self.content = content
    self.title = title
    self.contentType = contentType
    self.extras = extras
  }

  /// What the app is given (docs/gateway-protocol.md).
  var body: [UInt8] {
    var object: JSONObject = ["content": .string(content)]
    object["title"] = title.map(JSONValue.string)
    object["contentType"] = contentType.map(JSONValue.string)
    object["extras"] = extras.map(JSONValue.object)
    return JSONValue.object(object).encoded()
  }
}

/// How a push's in-app message stands.
public struct MessageCounts: Sendable, Equatable {
  /// Devices that are meant, whatever became of their tokens.
  public var targeted: Int
  /// Devices whose app has it, each counted once.
  public var delivered: Int
  /// Devices whose user has read it, likewise.
  public var read: Int

  public init(targeted: Int, delivered: Int, read: Int) {
    self.targeted = targeted
    self.delivered = delivered
    self.read = read
  }

  init(_ message: MessageProgress) {
    self.init(targeted: message.targeted, delivered: message.delivered, read: message.read)
  }
}

/// The way to apps that are connected, by whoever knows it.
public struct InAppWay: Sendable {
  /// Those of an app that are connected now.
  public var connected: @Sendable (_ app: Int64) -> DeviceSet
  /// true: connected; false: left within ten minutes; nil: neither is known.
  public var isConnected: @Sendable (_ app: Int64, DeviceOrdinal) -> Bool?

  public init(
    connected: @escaping @Sendable (_ app: Int64) -> DeviceSet,
    isConnected: @escaping @Sendable (_ app: Int64, DeviceOrdinal) -> Bool?
  ) {
    self.connected = connected
    self.isConnected = isConnected
  }
}

extension PushService {
  /// JPush's largest (jpush.md §4.5).
  static let largestMessage = 4000
  /// A message for those alone who are connected now is not tried again after so long.
  static let momentary = Instant.Span.seconds(30)

  /// The device's connection to the gateway: its app and ordinal; nil when the credentials are wrong. Notes that it was
  /// heard of.
  public func enter(
    appKey: String, registrationID: String, secret: String
  ) async throws(RequestFault) -> (app: Int64, ordinal: DeviceOrdinal)? {
    do throws(RequestFault) {
      let device = try await known(appKey: appKey, registrationID: registrationID, secret: secret).device
      return (device.app, device.ordinal)
    } catch {
      guard error.code == .deviceAuthenticationFailed else { throw error }
      return nil
    }
  }

  /// Of a push without a notification: nothing leaves for APNs.
  func planMessage(_ app: AppRecord, _ order: PushOrder, at now: Instant) async throws(RequestFault) -> PushPlan {
    try AudienceRule.check(order.meant)
    var draft = PushDraft(payload: JSONObject(), pushType: .background, priority: .considerate)
    try draft.setEnd(order.timeToLive ?? PushDraft.usualTimeToLive, at: now, wait: PushDraft.shortestWait)
    var order = order
    order.audience = try await resolved(order.meant, app)
    var reach = try await faulting(
      as: .push, await store.reach(app: app.id, order.audience, order.environment, at: now))
    guard !reach.meant.isEmpty else { throw Self.nobody(reach, order) }
    // whose token is of what environment, or dead, is nothing to a message
    reach.targets = []
    reach.wrongEnvironment = 0
    reach.dead = 0
    return PushPlan(push: StoredPush(order, draft, reach, nil, app: app.id, at: now), reach: reach, draft: draft)
  }

  func message(
    _ order: PushOrder, _ reach: AudienceReach, app: AppRecord, at now: Instant
  ) throws(RequestFault) -> MessageDraft? {
    guard let content = order.message else { return nil }
    let body = content.body
    guard body.count <= Self.largestMessage else {
      throw RequestFault(
        .tooLarge, at: "message", found: "a message of \(body.count) bytes",
        remedy: "Shorten it: the limit is \(Self.largestMessage) bytes of UTF-8 JSON.")
    }
    var aliases: Set<String> = []
    for case .alias(let alias) in order.audience.leaves { aliases.insert(alias) }
    var draft = MessageDraft(
      body: body, expiresAt: order.timeToLive.map { now + max(.seconds($0), Self.momentary) }, audience: reach.meant,
      aliases: aliases)
    if order.timeToLive == 0 {
      let connected = inApp?.connected(app.id) ?? DeviceSet()
      draft.audience = reach.meant.compactMap { part in
        let devices = part.devices.intersection(connected)
        return devices.isEmpty ? nil : .init(shard: part.shard, devices: devices)
      }
    }
    return draft
  }

  /// false when the push has no message.
  func withdrawMessage(_ app: AppRecord, _ messageID: Int64) async throws(RequestFault) -> Bool {
    try await faulting(as: .push, await store.withdrawMessage(app: app.id, id: messageID, at: clock.now, audit: nil))
  }
}

extension PushExplanation {
  /// What is known of the push's message on the device.
  mutating func add(_ trace: MessageTrace, isAlone: Bool, at now: Instant) {
    func decide(_ at: Instant?, _ by: Teller, _ words: String) -> Decision { Decision(at: at, by: by, words: words) }
    var told: [Decision] = []
    let message = trace.message
    var end = Outcome.pending
    switch trace.state {
    case .notMeant:
      end = .notTargeted
      told.append(decide(message.acceptedAt, .service, "the in-app message was not for the device"))
    case .waiting:
      told.append(decide(message.acceptedAt, .service, "the in-app message was put into the device's inbox"))
      if message.withdrawnAt == nil, message.expiresAt.map({ $0 > now }) ?? true {
        told.append(decide(nil, .service, "it waits for the app to connect, or to say that it has it"))
      } else {
        end = message.withdrawnAt == nil ? .expired : .withdrawn
      }
    case .waitingForAlias(let alias):
      told.append(
        decide(
          message.acceptedAt, .service,
          "the in-app message waits for the next device that takes the alias “\(alias)”"))
    case .delivered(let at):
      end = .accepted
      told.append(decide(message.acceptedAt, .service, "the in-app message was put into the device's inbox"))
      told.append(decide(at, .device, "the app says that it has the in-app message, and all before it"))
    }
    if let at = message.withdrawnAt { told.append(decide(at, .service, "the in-app message was withdrawn")) }
    if let at = message.expiresAt, at <= now {
      told.append(decide(at, .service, "the in-app message's time to live had passed"))
    }
    if let at = trace.readAt {
      told.append(decide(at, .device, "the app says that its user has read the in-app message"))
    }
    if isAlone {
      outcome = end
      decisions.removeAll()
    }
    add(told)
  }
}

extension StoredPush {
  /// Nothing of it goes to APNs.
  var isMessageAlone: Bool { payload.elementsEqual("{}".utf8) }
}
