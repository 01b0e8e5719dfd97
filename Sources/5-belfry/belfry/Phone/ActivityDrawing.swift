import Basics
import Phone
import PushPayload

/// A Live Activity in characters: a card on the Lock Screen and in the centre, or a few words in the Dynamic Island. How it
/// looks is the app's affair on a real phone; here its content state stands as it was sent.
struct ActivityDrawing {
  var activity: ShownActivity
  var appName: String

  init(_ activity: ShownActivity, on screen: Screen) {
    self.activity = activity
    appName = screen.icons.first { $0.bundleID == activity.bundleID }?.name ?? activity.bundleID
  }

  /// Its app and state, its type, and up to three lines of what it says.
  func card(_ columns: Int) -> [StyledLine] {
    let inside = max(1, columns - 2)
    let state = activity.state == .active ? "live" : activity.state.rawValue
    let title = TextWidth.fit(TextWidth.harmless(appName), to: max(0, inside - TextWidth.of(state) - 3))
    let content = TextWidth.wrap(words, to: inside, limit: 3).map { StyledLine($0) }
    return [
      StyledLine("● ", .ink(activity.state == .active ? .green : .yellow)) + StyledLine("\(title) \(state)", .faint),
      StyledLine(TextWidth.cut(TextWidth.harmless(activity.activity.attributesType), to: inside), .bold),
    ] + content
  }

  /// For the island: the app, and what it says as far as there is room.
  func compact(_ columns: Int) -> String {
    TextWidth.cut(TextWidth.harmless(words.isEmpty ? appName : "\(appName) \(words)"), to: columns)
  }

  /// `driver Lin · eta 5`
  private var words: String {
    TextWidth.harmless(
      activity.activity.contentState.members.map { "\($0.key) \($0.value.string ?? $0.value.text)" }
        .joined(separator: " · "))
  }
}
