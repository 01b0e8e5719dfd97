/// The device at the service: its registration, alias, tags, badge and what its user prefers. Each call answers once the
/// service has it durably; the faults are `BelfryFault`'s. (jpush.md §15.1 … §15.4)
extension Belfry {
  // MARK: Registration

  /// Hands over the token of `didRegisterForRemoteNotificationsWithDeviceToken`. Call it on every launch: tokens change with
  /// restores and updates, and the same token again costs nothing. Answers the registration id.
  ///
  /// When the service cannot be told now it throws, and tells it by itself later (`News.registered`).
  @discardableResult
  public func register(token: [UInt8], environment: APNSEnvironment) async throws(BelfryFault) -> String {
    await load()
    let hex = Self.hex(token)
    guard !hex.isEmpty else { throw BelfryFault(.noToken, "The token is empty.") }
    try await store.setToken(DeviceToken(hex: hex, environment: environment))
    do throws(BelfryFault) {
      let id = try await inTurn { belfry throws(BelfryFault) in try await belfry.registerNow().id }
      tryWaiting()
      return id
    } catch {
      if error.isTemporary { tryAgainLater() }
      throw error
    }
  }

  /// nil: the service does not know the device yet.
  public var registrationID: String? {
    get async {
      await load()
      return registration?.id
    }
  }

  /// What the service is told of the device from now on, as when the user answered about notifications. Told by itself later
  /// when it cannot be told now.
  public func tell(_ facts: DeviceFacts) async {
    self.facts = facts
    tryWaiting()
  }

  /// Makes the service know the token and the facts as they are now; asks it only where something is new.
  func registerNow() async throws(BelfryFault) -> Registration {
    guard let token = try await store.token() else {
      throw BelfryFault(.noToken, "APNs has given no token yet: register(token:environment:) hands it over.")
    }
    guard var known = registration else { return try await registerAnew() }
    guard known.token != token || known.facts != facts else { return known }
    var body = DeviceAPI.Body()
    if known.token != token { (body.token, body.environment) = (token.hex, token.environment) }
    if known.facts != facts { body.facts = facts }
    do throws(BelfryFault) {
      try await api.change(known, body)
    } catch {
      guard error.code == .notAuthorized else { throw error }
      return try await registerAnew()
    }
    (known.token, known.facts) = (token, facts)
    try await store.setRegistration(known)
    registration = known
    return known
  }

  /// The service gives a device that it knows by its token the same id again, and always another secret.
  func registerAnew() async throws(BelfryFault) -> Registration {
    guard let token = try await store.token() else {
      throw BelfryFault(.noToken, "APNs has given no token yet: register(token:environment:) hands it over.")
    }
    let facts = facts
    let answer = try await api.register(token, facts)
    let new = Registration(
      appKey: configuration.appKey, id: answer.registrationId, secret: answer.deviceSecret, token: token, facts: facts)
    try await store.setRegistration(new)
    let isAnother = registration?.id != new.id
    registration = new
    needsSecret = false
    if isAnother { tell(.registered(registrationID: new.id)) }
    await handle(.credentials(true))
    return new
  }

  /// The gateway refused the secret.
  func renew() {
    Task {
      do throws(BelfryFault) {
        _ = try await inTurn { belfry throws(BelfryFault) in try await belfry.registerAnew() }
      } catch {
        needsSecret = error.isTemporary
        if needsSecret { tryAgainLater() } else { await handle(.notRenewed) }
      }
    }
  }

  // MARK: Alias

  /// In the place of a former one. The old alias's pushes reach the device until this has succeeded.
  public func setAlias(_ alias: String, whenOffline: WhenOffline = .fail) async throws(BelfryFault) -> CallResult {
    try NameRule.check(alias: alias)
    return try await submit(.alias(alias), whenOffline)
  }

  /// Do not sign the next user in before this has succeeded, or was queued.
  public func deleteAlias(whenOffline: WhenOffline = .fail) async throws(BelfryFault) -> CallResult {
    try await submit(.alias(nil), whenOffline)
  }

  public func alias() async throws(BelfryFault) -> String? { try await state().alias }

  // MARK: Tags

  public func addTags(_ tags: Set<String>, whenOffline: WhenOffline = .fail) async throws(BelfryFault) -> CallResult {
    try NameRule.check(tags: tags.sorted())
    return try await submit(.addTags(tags.sorted()), whenOffline)
  }

  public func deleteTags(
    _ tags: Set<String>, whenOffline: WhenOffline = .fail
  ) async throws(BelfryFault) -> CallResult {
    try NameRule.check(tags: tags.sorted())
    return try await submit(.removeTags(tags.sorted()), whenOffline)
  }

  /// In the place of all tags of the device, those that the app's server gave it too.
  public func setTags(_ tags: Set<String>, whenOffline: WhenOffline = .fail) async throws(BelfryFault) -> CallResult {
    try NameRule.check(tags: tags.sorted())
    return try await submit(.setTags(tags.sorted()), whenOffline)
  }

  public func cleanTags(whenOffline: WhenOffline = .fail) async throws(BelfryFault) -> CallResult {
    try await submit(.setTags([]), whenOffline)
  }

  public func tags() async throws(BelfryFault) -> Set<String> { Set(try await state().tags) }

  /// Those of `tags` that the service would take: one that it would not fails a whole call.
  public static func validTags(_ tags: [String]) -> [String] {
    tags.filter { tag in
      do throws(BelfryFault) {
        try NameRule.check(tags: [tag])
        return true
      } catch { return false }
    }
  }

  // MARK: Badge, mobile number, calls and Live Activities

  /// The number that a push's "+1" counts from. The icon is the app's to set: `setBadgeAndIcon` does both on iOS.
  /// Kept and said later when it cannot be said now.
  @discardableResult
  public func setBadge(_ badge: Int, whenOffline: WhenOffline = .queue) async throws(BelfryFault) -> CallResult {
    guard (0...99_999).contains(badge) else {
      throw BelfryFault(.invalid, "The badge is \(badge), 0 to 99999 are allowed.")
    }
    return try await submit(.badge(badge), whenOffline)
  }

  /// nil: none. Up to 20 digits and hyphens, with or without a plus in front.
  public func setMobileNumber(
    _ number: String?, whenOffline: WhenOffline = .fail
  ) async throws(BelfryFault) -> CallResult {
    try await submit(.mobile(number), whenOffline)
  }

  /// PushKit's token; nil when the system has taken it back.
  public func setVoIPToken(
    _ token: [UInt8]?, whenOffline: WhenOffline = .queue
  ) async throws(BelfryFault) -> CallResult {
    try await submit(.voipToken(token.map(Self.hex)), whenOffline)
  }

  /// ActivityKit's push-to-start token for Live Activities of that type; nil: none any more.
  public func setActivityStartToken(
    _ token: [UInt8]?, attributesType: String, whenOffline: WhenOffline = .queue
  ) async throws(BelfryFault) -> CallResult {
    try await submit(.activityStartToken(type: attributesType, token: token.map(Self.hex)), whenOffline)
  }

  /// The update token of a Live Activity that runs, under an id of the app's own; nil when it has ended.
  public func setActivityToken(
    _ token: [UInt8]?, id: String, whenOffline: WhenOffline = .queue
  ) async throws(BelfryFault) -> CallResult {
    try await submit(.activityToken(id: id, token: token.map(Self.hex)), whenOffline)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16) }.joined()
  }

  // MARK: What the user prefers

  /// Nothing is queued: when it throws, the switch in the app goes back (device.md D-332).
  public func setOnlyScheduled(_ onlyScheduled: Bool) async throws(BelfryFault) {
    try await prefer(DeviceAPI.Body(onlyScheduled: onlyScheduled))
  }

  /// As "22:00-07:00", by the clocks of the device's place; nil: when the app's hours say. Nothing is queued.
  public func setQuietHours(_ hours: String?) async throws(BelfryFault) {
    try await prefer(DeviceAPI.Body(quietHours: hours ?? ""))
  }

  /// The channels whose notifications the user wants; nil: all. Nothing is queued.
  public func setChannels(_ channels: Set<String>?) async throws(BelfryFault) {
    try await prefer(DeviceAPI.Body(channels: channels.map { .only($0.sorted()) } ?? .all))
  }

  private func prefer(_ body: DeviceAPI.Body) async throws(BelfryFault) {
    await load()
    try await inTurn { belfry throws(BelfryFault) in try await belfry.change(body) }
  }

  /// What the service keeps of the device.
  public func state() async throws(BelfryFault) -> DeviceState {
    await load()
    return try await inTurn { belfry throws(BelfryFault) in
      try await belfry.withRegistration { registration throws(BelfryFault) in try await belfry.api.state(registration) }
    }
  }
}
