import Messages

extension ServeConfiguration {
  /// `messages` in the file: what goes for in-app messages.
  struct Messages: Equatable, Sendable, Decodable {
    /// How many of those that wait for a device come when it connects: the newest. The rest is in its history. Default: all.
    var mostWaiting: Int?

    init(from decoder: any Decoder) throws {
      let container = try decoder.strict(["mostWaiting"])
      mostWaiting = try container.decodeIfPresent(Int.self, forKey: "mostWaiting")
    }

    func settings() throws(CommandFault) -> MessageService.Settings {
      var settings = MessageService.Settings()
      guard let mostWaiting else { return settings }
      guard 1...1_000_000 ~= mostWaiting else {
        throw CommandFault("messages.mostWaiting: give 1 to 1000000, or leave it out for all")
      }
      settings.mostWaiting = mostWaiting
      return settings
    }
  }
}

extension MessageService.Settings {
  /// For `belfry config`.
  var words: String { "\(mostWaiting.map(String.init) ?? "all") that wait come" }
}
