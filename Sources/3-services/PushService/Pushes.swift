import Audience
import Basics
import Bus
import PushPayload
import Schedule
import Store

extension PushService {
  /// How long a `cid` answers its first push, or schedule, again.
  static let clientIDWindow = Instant.Span.days(1)

  /// Returns once the push is durable; it is sent from there on, also after a crash. A `cid` used within a day answers
  /// the first push and sends nothing.
  public func push(_ app: AppRecord, _ order: PushOrder) async throws(RequestFault) -> PushReceipt {
    let now = clock.now
    if let repeated = try await repeated(app, order, at: now) { return repeated }
    let plan = try await plan(app, order, at: now)
    if order.rate != nil { try await checkPaced(app) }
    let (kept, answer) = try await keep(plan) { [self] plan throws(StoreFault) in
      try await store.accept(
        plan.push, audience: plan.reach.targets, companion: plan.companion, message: plan.message,
        clientIDsSince: now - Self.clientIDWindow,
        audit: noteOfCaller(.pushSent, app, String(plan.push.id), order.contents))
    }
    switch answer {
    case .accepted: return await accepted(kept, app)
    case .repeated(let first, let targeted): return try again(first, targeted, order)
    }
  }

  /// The push of a schedule's step, made with it in one transaction; false when another took the step.
  func push(_ order: PushOrder, for step: ScheduleStep) async throws(RequestFault) -> Bool {
    let now = clock.now
    let app = try await faulting(as: .push, await credentials.app(id: step.schedule.app))
    guard let app else { return false }
    let plan = try await plan(app, order, at: now)
    if order.rate != nil { try await checkPaced(app) }
    let (kept, isTaken) = try await keep(plan) { [store] plan throws(StoreFault) in
      var step = step
      step.firing?.push = plan.push.id
      return try await store.take(
        step, push: plan.push, audience: plan.reach.targets, companion: plan.companion, message: plan.message)
    }
    if isTaken { _ = await accepted(kept, app) }
    return isTaken
  }

  /// nil when it leaves at once everywhere.
  func timing(_ order: PushOrder, _ draft: PushDraft, _ app: AppRecord) -> LocalTiming? {
    guard let settings = scheduling?.settings else { return nil }
    let heedsQuiet = order.inQuietHours != .pass && draft.pushType == .alert
    guard heedsQuiet || order.localDue != nil else { return nil }
    return LocalTiming(
      due: order.localDue, quiet: heedsQuiet ? settings.quietHours(of: app) : nil, heedsUsers: heedsQuiet,
      dropsInQuiet: order.inQuietHours == .drop, timeZone: settings.timeZone(of: app))
  }

  /// JPush's 1012 (jpush.md §4.8).
  private func checkPaced(_ app: AppRecord) async throws(RequestFault) {
    let paced = try await faulting(as: .push, await store.pacedPushes(app: app.id))
    guard paced >= PushRate.mostAtOnce else { return }
    throw RequestFault(
      .overLimit, at: "options.big_push_duration", found: "\(paced) pushes that are sent slowly are under way",
      remedy:
        "At most \(PushRate.mostAtOnce) are allowed at once: wait for one, withdraw one, or send this one at once.")
  }

  /// Gives the push its message id, another one while a node beside has taken it.
  func keep<Answer: Sendable>(
    _ plan: PushPlan, _ body: (PushPlan) async throws(StoreFault) -> Answer
  ) async throws(RequestFault) -> (PushPlan, Answer) {
    var plan = plan
    var attempts = 0
    while true {
      plan.push.id = messageIDs.next(at: plan.push.acceptedAt)
      if plan.companion != nil {
        plan.companion?.push.id = messageIDs.next(at: plan.push.acceptedAt)
        plan.companion?.push.companionOf = plan.push.id
      }
      do throws(StoreFault) { return (plan, try await body(plan)) } catch {
        attempts += 1
        guard case .taken = error, attempts < 5 else {
          metricCounts.change { $0.storeFaults += 1 }
          onEvent(.storeTrouble("\(error)"))
          throw RequestFault(error, .push)
        }
      }
    }
  }

  /// Each order by itself, in the order given; a fault stays one. Returns once all that were taken are durable: they are
  /// handed to the store together, which commits them together.
  public func push(
    _ app: AppRecord, _ orders: [Result<PushOrder, RequestFault>]
  ) async -> [Result<PushReceipt, RequestFault>] {
    await each(orders) { order throws(RequestFault) in try await self.push(app, try order.get()) }
  }

  /// All checks of `push`, what it would send, and to how many; nothing is kept or sent. The receipt's message id is 0.
  public func preview(_ app: AppRecord, _ order: PushOrder) async throws(RequestFault) -> PushPreview {
    let plan = try await plan(app, order, at: clock.now)
    return PushPreview(
      receipt: PushReceipt(plan.push, targeted: plan.targeted), pushType: plan.draft.pushType,
      priority: plan.draft.priority, bytes: plan.draft.size, limit: plan.draft.pushType.sizeLimit)
  }

  struct PushPlan {
    /// Without its id.
    var push: StoredPush
    /// As the devices are now.
    var reach: AudienceReach
    /// What it was made from.
    var draft: PushDraft
    var companion: PlannedPush?
    var message: MessageDraft?

    /// Devices that are tried, or for whom the message is where it is alone.
    var targeted: Int {
      reach.targets.isEmpty ? message?.audience.reduce(0) { $0 + $1.devices.count } ?? 0 : reach.count
    }
  }

  private func plan(_ app: AppRecord, _ order: PushOrder, at now: Instant) async throws(RequestFault) -> PushPlan {
    let (order, replaces) = try await replacing(order, app)
    var plan = try await planContents(app, order, at: now)
    plan.message = try message(order, plan.reach, app: app, at: now)
    plan.push.replaces = replaces
    guard let voip = order.voip else { return plan }
    var call = PushOrder(
      audience: order.audience, timeToLive: order.timeToLive, production: order.production,
      sendNumber: order.sendNumber, isScheduled: order.isScheduled)
    call.special = .voip(voip)
    call.callback = order.callback
    do throws(RequestFault) {
      let companion = try await planAlone(app, call, at: now)
      plan.companion = PlannedPush(companion.push, companion.reach.targets)
    } catch {
      guard error.code == .audienceEmpty else { throw error }
      plan.push.warnings.append("notification.voip goes to nobody: \(error.found)")
    }
    return plan
  }

  /// The order under the collapse id of the push that it replaces, and that push; nil when it replaces none.
  private func replacing(
    _ order: PushOrder, _ app: AppRecord
  ) async throws(RequestFault) -> (PushOrder, Int64?) {
    var order = order
    guard order.special == nil else {
      if order.replaces != nil || order.collapseID != nil {
        order.warnings.append("the collapse id, or what is to be replaced, is ignored: this shows no notification")
      }
      (order.collapseID, order.replaces) = (nil, nil)
      return (order, nil)
    }
    guard let id = order.replaces else { return (order, nil) }
    let found = try await faulting(as: .push, await store.progress(app: app.id, push: id))
    guard let shownID = found?.push.shownID else {
      throw RequestFault(
        .invalidParameter, at: "options.override_msg_id",
        found: found == nil ? "this app has no push \(id)" : "the push \(id) shows no notification",
        remedy: "Give the msg_id that POST /v3/push answered.")
    }
    guard order.collapseID == nil || order.collapseID == shownID else {
      order.warnings.append("override_msg_id is ignored: the collapse id beside it says what is replaced")
      return (order, nil)
    }
    order.collapseID = shownID
    return (order, id)
  }

  private func planContents(
    _ app: AppRecord, _ order: PushOrder, at now: Instant
  ) async throws(RequestFault) -> PushPlan {
    guard order.message != nil else { return try await planAlone(app, order, at: now) }
    var order = order
    if inApp == nil {
      order.warnings.append("message waits in inboxes: this service has no gateway; start it with --gateway")
    }
    guard !order.isMessageAlone else { return try await planMessage(app, order, at: now) }
    do throws(RequestFault) { return try await planAlone(app, order, at: now) } catch {
      guard error.code == .audienceEmpty else { throw error }
      order.warnings.append("the notification goes to nobody: \(error.found)")
      return try await planMessage(app, order, at: now)
    }
  }

  private func planAlone(
    _ app: AppRecord, _ order: PushOrder, at now: Instant
  ) async throws(RequestFault) -> PushPlan {
    let draft = try PushDraft(order, at: now)
    var order = order
    order.audience = try await resolved(order.meant, app)
    try await checkCallback(&order, app)
    let reach = try await reach(app, order)
    return PushPlan(
      push: StoredPush(order, draft, reach, timing(order, draft, app), app: app.id, at: now), reach: reach, draft: draft
    )
  }

  func accepted(_ plan: PushPlan, _ app: AppRecord) async -> PushReceipt {
    // what of it is claimed already would come after this one, and take its place
    if let former = plan.push.replaces,
      (try? await store.progress(app: app.id, push: former))?.finishedAt == nil
    {
      await obey(.withdrawn, former)
    }
    let main = PlannedPush(plan.push, plan.reach.targets)
    for planned in [main, plan.companion].compactMap(\.self) {
      metricCounts.change { $0.pushesAccepted += 1 }
      let targeted = planned.audience.reduce(0) { $0 + $1.devices.count }
      onEvent(.accepted(appKey: app.key, messageID: planned.push.id, targeted: targeted))
      await dispatch(
        planned.audience.map {
          ShardWork(app: app.id, push: planned.push.id, shard: $0.shard, devices: UInt32(clamping: $0.devices.count))
        })
    }
    return PushReceipt(plan.push, targeted: plan.targeted)
  }

  /// Told and left out where nobody could prove the receipts: the push is worth more than they are.
  private func checkCallback(_ order: inout PushOrder, _ app: AppRecord) async throws(RequestFault) {
    guard order.callback?.url != nil else { return }
    let hasSecret = try await faulting(as: .push, await !store.webhooks(app: app.id, after: 0, limit: 1).isEmpty)
    guard webhooks == nil || !hasSecret else { return }
    order.callback?.url = nil
    order.warnings.append(
      "callback.url is ignored: the app has no webhook whose secret would sign for it; make one, enabled or not, by "
        + "POST /v1/webhooks")
  }

  private func repeated(
    _ app: AppRecord, _ order: PushOrder, at now: Instant
  ) async throws(RequestFault) -> PushReceipt? {
    guard let clientID = order.clientID else { return nil }
    guard 1...128 ~= clientID.utf8.count else {
      throw RequestFault(
        .invalidParameter, at: "cid", found: "\(clientID.utf8.count) bytes", remedy: "Give 1 to 128 bytes.")
    }
    let first = try await faulting(
      as: .push, await store.push(app: app.id, clientID: clientID, since: now - Self.clientIDWindow))
    return try first.map { first throws(RequestFault) in try again(first.push, first.targeted, order) }
  }

  private func again(
    _ push: StoredPush, _ targeted: Int, _ order: PushOrder
  ) throws(RequestFault) -> PushReceipt {
    guard !order.isKeyed || push.request == order.original else {
      throw RequestFault(
        .conflict, at: "Idempotency-Key", found: "this key came with another push within a day",
        remedy: "Use a new key for a new push, and the same request for a repeated one.")
    }
    metricCounts.change { $0.pushesRepeated += 1 }
    var receipt = PushReceipt(push, targeted: targeted)
    receipt.isRepeated = true
    return receipt
  }

  // MARK: Audience

  private func reach(_ app: AppRecord, _ order: PushOrder) async throws(RequestFault) -> AudienceReach {
    if case .channel = order.special?.address {
      var reach = AudienceReach()
      let recipient = PushAddress.channelRecipient
      reach.targets = [.init(shard: recipient.shard, devices: DeviceSet([recipient]))]
      return reach
    }
    let reach = try await faulting(
      as: .push, await store.reach(app: app.id, order.audience, order.environment, at: clock.now))
    guard reach.targets.isEmpty else { return reach }
    throw Self.nobody(reach, order)
  }

  /// 1011 that says which part of the audience is at fault (cases C09, C29; jpush.md §16).
  static func nobody(_ reach: AudienceReach, _ order: PushOrder) -> RequestFault {
    let environment = order.environment
    if reach.wrongEnvironment > 0 {
      return RequestFault(
        .audienceEmpty, at: "options.apns_production",
        found: "cannot find user by this audience: all \(reach.wrongEnvironment) have a token of \(environment.other)",
        remedy: "Set options.apns_production to \(environment == .production ? "false" : "true").")
    }
    if let unmatched = reach.unmatched.words {
      return RequestFault(
        .audienceEmpty, at: "audience", found: "cannot find user by this audience: nobody has \(unmatched)",
        remedy: "Check the spelling and that the device was registered and named; different keys intersect.")
    }
    if reach.dead > 0 {
      return RequestFault(
        .audienceEmpty, at: "audience",
        found: "cannot find user by this audience: the tokens of all \(reach.dead) are dead",
        remedy: "They live again once their app registers; see the device for the reason.")
    }
    if order.audience == .everyone {
      return RequestFault(
        .audienceEmpty, at: "audience", found: "cannot find user by this audience: the app has no device yet",
        remedy: "Register one: POST /device/v1/registrations with the app key and a token (docs/serve.md).")
    }
    return RequestFault(
      .audienceEmpty, at: "audience", found: "cannot find user by this audience: its conditions exclude one another",
      remedy: "Different keys intersect; only names within tag, alias and registration_id are united.")
  }
}

extension [AudienceTerm] {
  /// The first few, within the 80 characters of the caller's that a fault may show.
  var words: String? {
    guard let first else { return nil }
    return first.words + (count > 1 ? " nor any of \(count - 1) more names" : "")
  }
}

extension AudienceTerm {
  var words: String {
    switch self {
    case .tag(let name): "the tag “\(name.prefix(64))”"
    case .alias(let name): "the alias “\(name.prefix(64))”"
    case .registrationID(let name): "the registration id “\(name.prefix(64))”"
    case .file(let id): "whom the file “\(id.prefix(64))” names"
    case .segment(let id): "the segment “\(id.prefix(64))”, which does not exist"
    case .variant(let test, let name): "the variant “\(name.prefix(64))” of the A/B test “\(test.prefix(64))”"
    case .holds(let purpose): "a \(purpose.words)"
    case .condition(let words): words
    }
  }
}

extension APNSEnvironment {
  var other: APNSEnvironment {
    switch self {
    case .sandbox: .production
    case .production: .sandbox
    }
  }
}

extension PushOrder {
  var environment: APNSEnvironment { production ? .production : .sandbox }
}

extension StoredPush {
  /// Without its id.
  init(
    _ order: PushOrder, _ draft: PushDraft, _ reach: AudienceReach, _ timing: LocalTiming?, app: Int64, at now: Instant
  ) {
    var warnings = order.warnings
    if reach.wrongEnvironment > 0 {
      warnings.append(
        "\(reach.wrongEnvironment) devices were left out: their token is of \(order.environment.other), and "
          + "options.apns_production is \(order.production)")
    }
    if reach.dead > 0 { warnings.append("\(reach.dead) devices were left out: their token is dead") }
    var length = order.rate?.length(for: reach.count) ?? .seconds(0)
    // From the easternmost place to the westernmost.
    if timing?.due != nil { length = length + .hours(26) }
    warnings += reach.unmatched.map { "nobody has \($0.words)" }.prefix(20)
    self.init(
      id: 0, app: app, acceptedAt: now, environment: order.environment, request: order.original,
      payload: JSONValue.object(draft.payload).encoded(), personal: order.personal?.stored,
      pushType: draft.pushType.rawValue,
      priority: draft.priority.rawValue,
      expiration: draft.expiration == 0 ? 0 : draft.expiration + length.milliseconds / 1000,
      deadline: draft.deadline + length,
      collapseID: order.collapseID, badge: draft.badge, sendNumber: order.sendNumber ?? 0,
      isScheduled: order.isScheduled ?? false, pace: order.rate?.pace(for: reach.count), timing: timing,
      clientID: order.clientID,
      wrongEnvironment: reach.wrongEnvironment,
      deadTokens: reach.dead,
      warnings: warnings, unmatched: reach.unmatched.map(\.name), audience: order.audience)
    groupPush = order.groupPush
    if let special = order.special { address = special.address }
    if case .channel = address {
      audience = nil
      if order.timeToLive == nil { expiration = nil }
    }
    channel = order.channel
    callback = order.callback.map {
      PushCallback(
        url: $0.url, events: Set($0.events.map(\.kind)), params: $0.params.map { JSONValue.object($0).encoded() })
    }
  }
}

extension PushReceipt {
  init(_ push: StoredPush, targeted: Int) {
    self.init(
      messageID: push.id, sendNumber: push.sendNumber, targeted: targeted, warnings: push.warnings,
      unmatched: push.unmatched)
    groupPush = push.groupPush
  }
}
