import Basics
import Phone

/// The phone's screen drawn in characters: pure, the same screen and size give the same lines. Draws what fits and never
/// more than the size, down to nothing at all.
struct ScreenDrawing {
  var screen: Screen
  /// For how long ago something came.
  var now: Instant
  var statusBar = StatusBarOverride()
  /// Marked on the home screen; nil marks none.
  var selectedApp: String?
  /// Marked in the list; nil marks none.
  var selected: Selection?

  /// One notification, or Live Activity, that can be pointed at.
  struct Selection: Hashable, Sendable {
    var bundleID: String
    var id: String
    var isActivity = false
  }

  static let usualSize = TerminalSize(columns: 34, rows: 26)

  init(_ screen: Screen, now: Instant, statusBar: StatusBarOverride = StatusBarOverride()) {
    self.screen = screen
    self.now = now
    self.statusBar = statusBar
  }

  /// Exactly `size.rows` lines, each exactly `size.columns` wide.
  func lines(_ size: TerminalSize) -> [StyledLine] {
    let (columns, rows) = (max(0, size.columns), max(0, size.rows))
    guard columns >= 14, rows >= 8 else { return filled(bare(columns, rows), columns, rows) }
    let inside = glass(columns - 2, rows - 2)
    let edge = String(repeating: "─", count: columns - 2)
    let body = inside.map { StyledLine("│", .faint) + $0.fit(to: columns - 2) + StyledLine("│", .faint) }
    return [StyledLine("╭\(edge)╮", .faint)] + body + [StyledLine("╰\(edge)╯", .faint)]
  }

  /// Where a frame would take more than it gives: the status bar and what matters most.
  private func bare(_ columns: Int, _ rows: Int) -> [StyledLine] {
    guard rows > 1 else { return [bar(columns)] }
    return [bar(columns)] + body(columns, rows - 1)
  }

  private func glass(_ columns: Int, _ rows: Int) -> [StyledLine] {
    let foot = StyledLine(String(repeating: "━", count: min(10, columns)), .faint).centred(in: columns)
    let top = [bar(columns)] + (rows > 6 ? island(columns) : [])
    return top + filled(body(columns, rows - top.count - 1), columns, rows - top.count - 1) + [foot]
  }

  /// The Dynamic Island: its owner, and one more beside it (D-189). Nothing where it holds nothing.
  private func island(_ columns: Int) -> [StyledLine] {
    guard let owner = screen.island.first else { return [] }
    let others = screen.island.dropFirst().map { StyledLine(" ") + pill($0, 8) }
    let room = max(4, columns - 4 - others.reduce(0) { $0 + $1.width })
    return [others.reduce(pill(owner, room)) { $0 + $1 }.centred(in: columns)]
  }

  private func pill(_ activity: ShownActivity, _ columns: Int) -> StyledLine {
    let drawing = ActivityDrawing(activity, on: screen)
    return StyledLine("(\(drawing.compact(columns)))", isSelected(activity) ? .ink(.cyan, bold: true) : .inverse)
  }

  private func isSelected(_ activity: ShownActivity) -> Bool {
    selected == Selection(bundleID: activity.bundleID, id: activity.id, isActivity: true)
  }

  /// Cards of Live Activities, above the notifications.
  private func activities(_ columns: Int) -> [StyledLine] {
    screen.activities.flatMap { one -> [StyledLine] in
      let bar = isSelected(one) ? StyledLine("▌", .ink(.cyan, bold: true)) : StyledLine(" ")
      return ActivityDrawing(one, on: screen).card(columns).map { bar + $0 } + [StyledLine()]
    }
  }

  func filled(_ lines: [StyledLine], _ columns: Int, _ rows: Int) -> [StyledLine] {
    let shown = lines.prefix(rows).map { $0.fit(to: columns) }
    return shown + Array(repeating: StyledLine().fit(to: columns), count: max(0, rows - shown.count))
  }

  // MARK: parts

  /// Time on the left, what the phone stands in on the right, as far as there is room.
  func bar(_ columns: Int) -> StyledLine {
    let time = StyledLine(" \(clean(statusBar.time ?? screen.clock))", .bold)
    var words: [String] = []
    if screen.indicators.isAirplane { words.append("airplane") }
    if !screen.indicators.isOnline, !screen.indicators.isAirplane { words.append("no network") }
    if let focus = screen.indicators.focus { words.append("☾ \(clean(focus))") }
    if screen.indicators.isLowPower { words.append("low power") }
    if screen.indicators.isMuted { words.append("mute") }
    words += [statusBar.carrier, statusBar.network, statusBar.battery].compactMap { $0 }.map(clean)
    let room = columns - time.width - 2
    var right = ""
    for word in words where TextWidth.of(right) + TextWidth.of(word) + 1 <= room {
      right += (right.isEmpty ? "" : " ") + word
    }
    let gap = String(repeating: " ", count: max(1, columns - time.width - TextWidth.of(right) - 1))
    return time + StyledLine(gap) + StyledLine(right, .ink(.yellow))
  }

  private func body(_ columns: Int, _ rows: Int) -> [StyledLine] {
    if let call = screen.call { return callScreen(call, columns, rows) }
    if let prompt = screen.prompt {
      return box(
        [clean(prompt.text)], detail: [clean(prompt.detail)], buttons: prompt.buttons, under: base(columns, rows),
        columns,
        rows)
    }
    if let alert = screen.alert {
      let notification = alert.notification
      return box(
        [clean(notification.heading)], detail: [clean(notification.subtitle), clean(notification.body)],
        buttons: alert.buttons, under: base(columns, rows), columns, rows)
    }
    guard let banner = screen.banners.first else { return base(columns, rows) }
    let over = self.banner(banner, columns)
    return over + filled(base(columns, rows), columns, rows).dropFirst(over.count)
  }

  private func base(_ columns: Int, _ rows: Int) -> [StyledLine] {
    if screen.isLocked { return lockScreen(columns, rows) }
    if screen.isCentreOpen {
      return [StyledLine("Notification Centre", .bold).centred(in: columns), StyledLine()]
        + list(screen.centre, columns, rows - 2)
    }
    if let front = screen.front {
      return [
        StyledLine(), StyledLine(clean(front.name), .bold).centred(in: columns),
        StyledLine(clean(front.bundleID), .faint).centred(in: columns), StyledLine(),
        StyledLine("the app is on the screen", .faint).centred(in: columns),
      ]
    }
    return HomeScreenDrawing(icons: screen.icons, selected: selectedApp).lines(columns, rows)
  }

  private func callScreen(_ call: PhoneCall, _ columns: Int, _ rows: Int) -> [StyledLine] {
    let app = screen.icons.first { $0.bundleID == call.bundleID }?.name ?? call.bundleID
    let seconds = max(0, (now - call.since).milliseconds / 1000)
    let lines = [
      StyledLine(), StyledLine(clean(call.caller), .bold).centred(in: columns),
      StyledLine(call.isAnswered ? "\(clean(app)) · \(seconds) s" : "\(clean(app)) audio…", .faint).centred(
        in: columns),
      StyledLine(),
    ]
    let buttons = call.isAnswered ? "[ End ]" : "[ Decline ]  [ Accept ]"
    return filled(lines, columns, max(lines.count, rows - 2))
      + [StyledLine(buttons, .ink(.cyan)).centred(in: columns)]
  }

  private func lockScreen(_ columns: Int, _ rows: Int) -> [StyledLine] {
    let head = [
      StyledLine(), StyledLine(clean(statusBar.time ?? screen.clock), .bold).centred(in: columns), StyledLine(),
    ]
    let foot = StyledLine("locked", .faint).centred(in: columns)
    guard rows > 6 else { return list(screen.lockScreen, columns, rows) }
    return filled(head + list(screen.lockScreen, columns, rows - head.count - 1), columns, rows - 1) + [foot]
  }

  /// A banner hangs at the top over whatever is there.
  private func banner(_ notification: Screen.Notification, _ columns: Int) -> [StyledLine] {
    let inside = max(1, columns - 4)
    let selection = Selection(bundleID: notification.bundleID, id: notification.id)
    let mark = selection == selected ? TextStyle.ink(.cyan, bold: true) : .bold
    var lines = [StyledLine(clean(notification.heading), mark)]
    if !notification.subtitle.isEmpty { lines.append(StyledLine(clean(notification.subtitle))) }
    lines += TextWidth.wrap(clean(notification.body), to: inside, limit: 4).map { StyledLine($0) }
    let edge = String(repeating: "─", count: max(0, columns - 2))
    return [StyledLine("┌\(edge)┐")]
      + lines.map { StyledLine("│ ") + $0.fit(to: inside) + StyledLine(" │") } + [StyledLine("└\(edge)┘")]
  }

  /// A modal alert or a prompt in the middle; it waits.
  private func box(
    _ title: [String], detail: [String], buttons: [String], under: [StyledLine], _ columns: Int, _ rows: Int
  ) -> [StyledLine] {
    let width = min(columns, 40)
    let inside = width - 4
    guard inside > 4 else { return title.map { StyledLine($0, .bold) } }
    var lines = title.flatMap { TextWidth.wrap($0, to: inside, limit: 3) }.map {
      StyledLine($0, .bold).centred(in: inside)
    }
    for text in detail where !text.isEmpty {
      lines += TextWidth.wrap(text, to: inside, limit: 4).map { StyledLine($0).centred(in: inside) }
    }
    let words = buttons.map { "[ \(clean($0)) ]" }
    let row = words.joined(separator: "  ")
    lines += [StyledLine()]
    lines += (TextWidth.of(row) <= inside ? [row] : words).map { StyledLine($0, .ink(.cyan)).centred(in: inside) }
    let edge = String(repeating: "─", count: width - 2)
    let drawn =
      [StyledLine("╭\(edge)╮")] + lines.map { StyledLine("│ ") + $0.fit(to: inside) + StyledLine(" │") }
      + [StyledLine("╰\(edge)╯")]
    var all = filled(under, columns, rows)
    let top = max(0, (rows - drawn.count) / 2)
    for (place, line) in drawn.enumerated() where top + place < all.count {
      all[top + place] = line.centred(in: columns)
    }
    return all
  }

  // MARK: lists

  /// Groups as stacks, the one that holds the selection unfolded; moved up so far that the selection is seen.
  func list(_ groups: [Screen.Group], _ columns: Int, _ rows: Int) -> [StyledLine] {
    guard rows > 0 else { return [] }
    var lines = activities(columns)
    guard !groups.isEmpty || !lines.isEmpty else {
      return [StyledLine("no notifications", .faint).centred(in: columns)]
    }
    var end: Int?
    for group in groups {
      let isUnfolded = group.notifications.contains { isSelected($0) }
      for (place, notification) in group.notifications.enumerated() where place == 0 || isUnfolded {
        lines += card(notification, in: place == 0 ? group : nil, columns)
        if isSelected(notification) { end = lines.count }
      }
      if !isUnfolded, group.notifications.count > 1 {
        let words = group.summary ?? "\(group.notifications.count - 1) more"
        lines.append(StyledLine("  ▾ \(clean(words))", .faint))
      }
      lines.append(StyledLine())
    }
    lines.removeLast()
    guard lines.count > rows else { return lines }
    let first = max(0, min((end ?? 0) - rows + 1, lines.count - rows))
    var seen = Array(lines[first..<first + rows])
    if first + rows < lines.count { seen[rows - 1] = StyledLine("  ⋮", .faint) }
    if first > 0 { seen[0] = StyledLine("  ⋮", .faint) }
    return seen
  }

  private func isSelected(_ notification: Screen.Notification) -> Bool {
    selected == Selection(bundleID: notification.bundleID, id: notification.id)
  }

  private func card(_ notification: Screen.Notification, in group: Screen.Group?, _ columns: Int) -> [StyledLine] {
    let bar = isSelected(notification) ? StyledLine("▌", .ink(.cyan, bold: true)) : StyledLine(" ")
    let inside = max(1, columns - 2)
    var lines: [StyledLine] = []
    if let group {
      let age = age(notification.shownAt)
      let title = TextWidth.fit(clean(group.title), to: max(0, inside - TextWidth.of(age) - 1))
      lines.append(StyledLine("\(title) \(age)", .faint))
    }
    if !notification.heading.isEmpty, notification.heading != group?.title {
      lines.append(StyledLine(clean(notification.heading), .bold))
    }
    if !notification.subtitle.isEmpty { lines.append(StyledLine(clean(notification.subtitle))) }
    lines += TextWidth.wrap(clean(notification.body), to: inside, limit: 3).map { StyledLine($0) }
    if !notification.choices.isEmpty {
      lines.append(StyledLine(notification.choices.map { "[ \(clean($0)) ]" }.joined(separator: " "), .ink(.cyan)))
    }
    return lines.map { bar + $0 }
  }

  private func age(_ time: Instant) -> String {
    let seconds = (now - time).milliseconds / 1000
    switch seconds {
    case ..<60: return "now"
    case ..<3600: return "\(seconds / 60)m ago"
    case ..<86_400: return "\(seconds / 3600)h ago"
    default: return "\(seconds / 86_400)d ago"
    }
  }

  private func clean(_ text: String) -> String { TextWidth.harmless(text) }
}

extension ScreenDrawing {
  /// What a finger could touch now, from the top.
  static func selectable(_ screen: Screen) -> [Selection] {
    let activities = screen.isLocked || screen.isCentreOpen ? screen.activities : screen.island
    let groups = screen.isLocked ? screen.lockScreen : screen.isCentreOpen ? screen.centre : []
    let notifications =
      screen.banners + (screen.alert.map { [$0.notification] } ?? []) + groups.flatMap(\.notifications)
    var found = activities.map { Selection(bundleID: $0.bundleID, id: $0.id, isActivity: true) }
    for notification in notifications {
      let selection = Selection(bundleID: notification.bundleID, id: notification.id)
      if !found.contains(selection) { found.append(selection) }
    }
    return found
  }
}
