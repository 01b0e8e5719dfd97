import Basics
import Phone

/// The interactive phone's own state: what is marked, typed and scrolled. A value; keys in, acts out, and a frame to
/// show. It holds nothing of the phone, which it is handed each time.
struct PhoneConsole: Sendable {
  enum Act: Equatable, Sendable {
    case perform(PhoneAct)
    /// A line as of line mode.
    case command(String)
    case quit
    case suspend
  }

  enum Mode: Equatable, Sendable {
    case watching
    case menu(KeyMenu)
    case typing(label: String, text: String, Purpose)
    case page(KeyBinding.Page)
  }

  enum Purpose: Equatable, Sendable {
    case command
    case reply(bundleID: String, id: String, action: String)
  }

  private(set) var mode = Mode.watching
  private(set) var app: String?
  private(set) var selection: ScreenDrawing.Selection?
  /// Entries that lie below the last one shown.
  private(set) var scrolled = 0
  private(set) var showsAll = false
  private(set) var showsLog = false
  /// What was wrong with the last act; gone with the next key.
  var complaint: String?

  init() {}

  /// Shows an answer in words in the place of the timeline, until a key is pressed.
  mutating func show(_ lines: [String]) { mode = .page(.text(lines)) }

  /// Answers what to do; first act first.
  mutating func press(_ key: Key, _ sight: PhoneSight) -> [Act] {
    settle(sight)
    complaint = nil
    if key == .control("c") { return [.quit] }
    switch mode {
    case .watching: return watch(key, sight)
    case .menu(let menu): return choose(key, menu)
    case .typing(let label, let text, let purpose): return type(key, label, text, purpose)
    case .page:
      mode = .watching
      return key == .character("q") || key == .escape || key == .enter ? [] : watch(key, sight)
    }
  }

  /// Lets go of marks on what is no more.
  mutating func settle(_ sight: PhoneSight) {
    if app.map({ app in !sight.apps.contains { $0.bundleID == app } }) ?? true { app = sight.apps.first?.bundleID }
    if let selection, !sight.selectable.contains(selection) { self.selection = nil }
  }

  private mutating func watch(_ key: Key, _ sight: PhoneSight) -> [Act] {
    guard let binding = KeyBinding.of(key) else { return [] }
    switch binding.effect(Pointing(sight: sight, app: app, selection: selection)) {
    case .act(let act): return [.perform(act)]
    case .menu(let menu): mode = .menu(menu)
    case .show(let page): mode = .page(page)
    case .typing: mode = .typing(label: ":", text: "", .command)
    case .nextApp(let step): markApp(step, sight)
    case .select(let step): mark(step, sight)
    case .scroll(let step): scrolled = step == .min ? 0 : max(0, min(scrolled + step * 5, sight.log.count - 1))
    case .filter: (showsAll, scrolled) = (!showsAll, 0)
    case .turn: showsLog.toggle()
    case .quit: return [.quit]
    case .suspend: return [.suspend]
    case .nothing: break
    }
    return []
  }

  private mutating func markApp(_ step: Int, _ sight: PhoneSight) {
    guard let place = sight.apps.firstIndex(where: { $0.bundleID == app }) else { return }
    app = sight.apps[(place + step + sight.apps.count) % sight.apps.count].bundleID
  }

  private mutating func mark(_ step: Int, _ sight: PhoneSight) {
    let found = sight.selectable
    guard !found.isEmpty else { return }
    guard let selection, let place = found.firstIndex(of: selection) else {
      self.selection = step > 0 ? found.first : found.last
      return
    }
    // one step beyond either end marks nothing
    let next = place + step
    self.selection = found.indices.contains(next) ? found[next] : nil
  }

  private mutating func choose(_ key: Key, _ menu: KeyMenu) -> [Act] {
    mode = .watching
    guard case .character(let letter) = key, let digit = letter.wholeNumberValue, digit > 0, digit <= menu.choices.count
    else { return [] }
    switch menu.choices[digit - 1].result {
    case .act(let act): return [.perform(act)]
    case .reply(let bundleID, let id, let action, let placeholder):
      mode = .typing(
        label: placeholder.isEmpty ? "reply:" : "\(placeholder):", text: "",
        .reply(bundleID: bundleID, id: id, action: action))
      return []
    }
  }

  private mutating func type(_ key: Key, _ label: String, _ text: String, _ purpose: Purpose) -> [Act] {
    var text = text
    switch key {
    case .character(let letter): text.append(letter)
    case .backspace, .delete:
      guard !text.isEmpty else {
        mode = .watching
        return []
      }
      text.removeLast()
    case .control("u"): text = ""
    case .escape:
      mode = .watching
      return []
    case .enter:
      mode = .watching
      switch purpose {
      case .command: return text.isEmpty ? [] : [.command(text)]
      case .reply(let bundleID, let id, let action):
        return [.perform(Self.reply(text, bundleID: bundleID, id: id, action: action))]
      }
    case .tab, .backTab, .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .control: break
    }
    mode = .typing(label: label, text: text, purpose)
    return []
  }

  private static func reply(_ text: String, bundleID: String, id: String, action: String) -> PhoneAct {
    .events([.action(bundleID: bundleID, id: id, action: action, text: text)])
  }
}
