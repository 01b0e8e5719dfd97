import BelfryKit

/// What the chat's screen shows.
actor Chat {
  private let belfry: Belfry
  private(set) var lines: [InAppMessage] = []

  init(_ belfry: Belfry) { self.belfry = belfry }

  /// Runs for as long as the app does. An event that the process did not live to finish comes again after the next start.
  func follow() async {
    for await event in belfry.messages {
      switch event {
      case .message(let message): lines.append(message)
      case .withdrawn(let id): lines.removeAll { $0.id == id }
      }
    }
  }

  /// The user has seen it. The service counts it, also when this is said without a network.
  func didShow(_ message: InAppMessage) async throws {
    try await belfry.markRead([message.id])
  }

  /// Fills the screen of a new phone.
  func loadEarlier() async throws {
    let before = lines.first?.seq
    let page = try await belfry.history(HistoryQuery(.newest, before: before, limit: 50))
    lines = page.messages.reversed() + lines
  }

  func signIn(_ user: String) async throws {
    _ = try await belfry.setAlias(user)
  }

  /// Before the next user signs in: pushes to the alias reach this phone until it is gone.
  func signOut() async throws {
    _ = try await belfry.deleteAlias(whenOffline: .queue)
    lines = []
  }

  func choose(_ topics: Set<String>) async throws {
    do {
      _ = try await belfry.setTags(topics)
    } catch {
      guard error.isTemporary else { throw error }
      // no network: said by itself later, also after the app was ended
      _ = try await belfry.setTags(topics, whenOffline: .queue)
    }
  }

  /// The app's switch "only the daily summary". When it throws, the switch goes back.
  func setOnlyScheduled(_ isOn: Bool) async throws {
    try await belfry.setOnlyScheduled(isOn)
  }
}
