import Basics
import PushPayload

/// How entries lie together in the centre and on the lock screen (D-240, D-241).
///
/// iOS 12 and later: by thread, else by app, as the user chose for the app. iOS 10 and 11: one list by time. iOS 5–9: the
/// lock screen by time, the centre in sections by app unless the app's `grouping` is off. A scheduled summary is one
/// group of several apps.
extension Phone {
  struct Listed {
    var entry: CentreEntry
    var app: Int
  }

  private enum GroupKey: Hashable {
    case single(Int, String)
    case app(Int)
    case thread(Int, String)
    case summary(Instant)
  }

  func groups(of listed: [Listed], onLockScreen: Bool) -> [Screen.Group] {
    var keys: [GroupKey] = []
    var members: [GroupKey: [Listed]] = [:]
    for one in listed {
      let key = key(of: one, onLockScreen: onLockScreen)
      if members[key] == nil { keys.append(key) }
      members[key, default: []].append(one)
    }
    return keys.compactMap { key in members[key].map { group(key, $0) } }
  }

  private func key(of listed: Listed, onLockScreen: Bool) -> GroupKey {
    if let time = listed.entry.summarizedAt { return .summary(time) }
    let single = GroupKey.single(listed.app, listed.entry.id)
    let grouping = apps[listed.app].permission.user.grouping
    switch settings.iosVersion.major {
    case ..<10: return onLockScreen || grouping == .off ? single : .app(listed.app)
    case ..<12: return single
    default: break
    }
    switch grouping {
    case .off: return single
    case .byApp: return .app(listed.app)
    case .automatic:
      let thread = listed.entry.notice.content.payload.threadID ?? ""
      return thread.isEmpty ? .app(listed.app) : .thread(listed.app, thread)
    }
  }

  private func group(_ key: GroupKey, _ members: [Listed]) -> Screen.Group {
    switch key {
    case .single(let app, _): group(of: app, members, thread: nil)
    case .app(let app): group(of: app, members, thread: nil)
    case .thread(let app, let thread): group(of: app, members, thread: thread)
    case .summary:
      Screen.Group(
        bundleID: nil, title: "Scheduled Summary", threadID: nil,
        notifications: members.sorted { Self.isFeatured($0.entry, before: $1.entry) }.map(drawn), summary: nil)
    }
  }

  private func group(of app: Int, _ members: [Listed], thread: String?) -> Screen.Group {
    let stacks = settings.iosVersion.major >= 12 && members.count > 1
    return Screen.Group(
      bundleID: apps[app].description.bundleID, title: apps[app].description.name, threadID: thread,
      notifications: members.map(drawn),
      summary: stacks ? summary(of: members.dropFirst().map(\.entry.notice.content), app) : nil)
  }

  /// What stands below the newest notification of a stack, by the category of those beneath if they are of one: `%u` is
  /// their number, `%@` their `summary-arg`s, newest first, each once. Both count on iOS 12–14 only ("summaryArgument is
  /// ignored", header of iOS 15); a format that would want an argument and gets none gives way to the system's words.
  private func summary(of beneath: [Content], _ app: Int) -> String {
    let readsArguments = settings.iosVersion.major < 15
    let count = beneath.reduce(Int64(0)) { sum, content in
      let own = readsArguments ? max(1, content.payload.alert?.summaryArgumentCount ?? 1) : 1
      let (total, overflow) = sum.addingReportingOverflow(own)
      return overflow ? .max : total
    }
    let usual = "\(count) more notification\(count == 1 ? "" : "s")"
    guard let category = beneath.first?.payload.category,
      beneath.allSatisfy({ $0.payload.category == category }),
      let format = apps[app].categories.first(where: { $0.id == category })?.summaryFormat, !format.isEmpty
    else { return usual }
    var arguments: [String] = []
    if readsArguments {
      for argument in beneath.compactMap({ $0.payload.alert?.summaryArgument })
      where !argument.isEmpty && !arguments.contains(argument) {
        arguments.append(argument)
      }
    }
    return Self.filled(format, count, arguments.joined(separator: ", ")) ?? usual
  }

  /// nil: it wants an argument and there is none.
  private static func filled(_ format: String, _ count: Int64, _ argument: String) -> String? {
    var text = ""
    var rest = Substring(format)
    while let percent = rest.firstIndex(of: "%") {
      text += rest[..<percent]
      rest = rest[percent...].dropFirst()
      // `%1$u` and `%2$@` name their place, as translations do
      let numbered = rest.drop { $0.isASCII && $0.isNumber }
      if numbered.first == "$", numbered.startIndex != rest.startIndex { rest = numbered.dropFirst() }
      switch rest.first {
      case "u", "d":
        text += String(count)
        rest = rest.dropFirst()
      case "@":
        if argument.isEmpty { return nil }
        text += argument
        rest = rest.dropFirst()
      case "%":
        text += "%"
        rest = rest.dropFirst()
      default: text += "%"
      }
    }
    return text + rest
  }
}
