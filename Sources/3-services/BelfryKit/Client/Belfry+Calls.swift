/// What a call to the service came to.
public enum CallResult: Hashable, Sendable {
  /// The service has it.
  case done
  /// It is kept, and said when it can be, also by a later process; a refusal comes as `Belfry.News.refused`.
  case queued
}

/// What a call does that the service cannot be told now.
public enum WhenOffline: Hashable, Sendable {
  /// It throws, and nothing is kept.
  case fail
  case queue
}

/// Calls to the service: one after the other, what was queued first.
extension Belfry {
  /// After the calls that were begun before, and before those that are begun later.
  func inTurn<Answer: Sendable>(
    _ body: @escaping @Sendable (isolated Belfry) async throws(BelfryFault) -> Answer
  ) async throws(BelfryFault) -> Answer {
    let before = turn
    let task = Task {
      await before?.value
      return await attempt(body)
    }
    turn = Task { _ = await task.value }
    return try await task.value.get()
  }

  private func attempt<Answer: Sendable>(
    _ body: (isolated Belfry) async throws(BelfryFault) -> Answer
  ) async -> Result<Answer, BelfryFault> {
    do throws(BelfryFault) { return .success(try await body(self)) } catch { return .failure(error) }
  }

  func submit(_ call: DeviceCall, _ whenOffline: WhenOffline) async throws(BelfryFault) -> CallResult {
    await load()
    switch whenOffline {
    case .fail:
      try await inTurn { belfry throws(BelfryFault) in
        try await belfry.sayQueued(watching: nil)
        try await belfry.say(call)
      }
      return .done
    case .queue:
      let position = try await store.queue(call)
      do throws(BelfryFault) {
        try await inTurn { belfry throws(BelfryFault) in try await belfry.sayQueued(watching: position) }
        return .done
      } catch {
        guard error.isTemporary else { throw error }
        tryAgainLater()
        return .queued
      }
    }
  }

  /// Throws what keeps the next call from being said, or the refusal of the one that is watched; those of others are news.
  private func sayQueued(watching watched: Int64?) async throws(BelfryFault) {
    var refusal: BelfryFault?
    while let next = try await store.nextCall() {
      do throws(BelfryFault) {
        try await say(next.call)
      } catch {
        if error.isTemporary { throw error }
        if next.position == watched { refusal = error } else { tell(.refused(next.call.words, error)) }
      }
      try await store.removeCall(next.position)
    }
    if let refusal { throw refusal }
  }

  private func say(_ call: DeviceCall) async throws(BelfryFault) {
    switch call {
    case .alias(let alias): try await change(.init(alias: alias ?? ""))
    case .badge(let badge): try await change(.init(badge: badge))
    case .mobile(let mobile): try await change(.init(mobile: mobile ?? ""))
    case .voipToken(let token): try await change(.init(voipToken: token ?? ""))
    case .activityStartToken(let type, let token):
      try await change(.init(activityStartTokens: [type: token ?? ""]))
    case .activityToken(let id, let token): try await change(.init(activities: [id: token ?? ""]))
    case .addTags(let tags): try await changeTags(add: tags, remove: [])
    case .removeTags(let tags): try await changeTags(add: [], remove: tags)
    case .setTags([]): try await change(.init(tags: .clear))
    case .setTags(let tags):
      let old = try await withRegistration { registration throws(BelfryFault) in
        try await self.api.state(registration).tags
      }
      try await changeTags(add: tags.filter { !old.contains($0) }, remove: old.filter { !tags.contains($0) })
    }
  }

  /// In as many calls as the service wants: 100 names and 1,000 bytes of them in each list.
  private func changeTags(add: [String], remove: [String]) async throws(BelfryFault) {
    // those that go make room first
    for names in Self.portions(remove) { try await change(.init(tags: .change(add: [], remove: names))) }
    for names in Self.portions(add) { try await change(.init(tags: .change(add: names, remove: []))) }
  }

  static func portions(_ names: [String]) -> [[String]] {
    var portions: [[String]] = []
    var bytes = 0
    for name in names {
      if portions.isEmpty || portions[portions.count - 1].count == 100 || bytes + name.utf8.count > 1000 {
        portions.append([])
        bytes = 0
      }
      portions[portions.count - 1].append(name)
      bytes += name.utf8.count
    }
    return portions
  }

  func change(_ body: DeviceAPI.Body) async throws(BelfryFault) {
    try await withRegistration { registration throws(BelfryFault) in try await self.api.change(registration, body) }
  }

  var api: DeviceAPI {
    DeviceAPI(transport: transport, service: configuration.service, appKey: configuration.appKey)
  }

  /// As the device is known; once more with another secret where that one is refused.
  func withRegistration<Answer: Sendable>(
    _ body: (Registration) async throws(BelfryFault) -> Answer
  ) async throws(BelfryFault) -> Answer {
    guard let known = registration else {
      return try await body(try await registerNow())
    }
    do throws(BelfryFault) {
      return try await body(known)
    } catch {
      guard error.code == .notAuthorized else { throw error }
      return try await body(try await registerAnew())
    }
  }

  // MARK: Later

  /// There may be a network: says what waits.
  func tryWaiting() {
    retry?.cancel()
    retry = nil
    retries.reset()
    Task { await sayWaiting() }
  }

  func tryAgainLater() {
    guard retry == nil, !isClosed else { return }
    let delay = retries.next(chance: Double.random(in: 0..<1))
    retry = Task { [weak self, clock] in
      guard (try? await clock.sleep(milliseconds: delay)) != nil else { return }
      await self?.sayWaitingAgain()
    }
  }

  private func sayWaitingAgain() async {
    retry = nil
    await sayWaiting()
  }

  private func sayWaiting() async {
    guard !isClosed else { return }
    await load()
    do throws(BelfryFault) {
      try await inTurn { belfry throws(BelfryFault) in
        if try await belfry.store.token() != nil {
          _ = belfry.needsSecret ? try await belfry.registerAnew() : try await belfry.registerNow()
        }
        guard belfry.registration != nil else { return }
        try await belfry.sayQueued(watching: nil)
        try await belfry.sayReports()
      }
      retries.reset()
    } catch {
      if error.isTemporary { tryAgainLater() }
    }
  }
}

extension DeviceCall {
  /// For people.
  fileprivate var words: String {
    switch self {
    case .alias(let alias): alias.map { "set the alias \($0)" } ?? "delete the alias"
    case .addTags(let tags): "add the tags \(tags.joined(separator: ", "))"
    case .removeTags(let tags): "delete the tags \(tags.joined(separator: ", "))"
    case .setTags(let tags): "set the tags \(tags.joined(separator: ", "))"
    case .badge(let badge): "set the badge to \(badge)"
    case .mobile: "set the mobile number"
    case .voipToken: "tell the VoIP token"
    case .activityStartToken(let type, _): "tell the push-to-start token of \(type)"
    case .activityToken(let id, _): "tell the token of the activity \(id)"
    }
  }
}
