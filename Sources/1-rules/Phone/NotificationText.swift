import PushPayload

/// The words of a notification as they stand on the screen at this moment (D-126, D-202 … D-204).
extension Phone {
  /// As written on the screen; empty when there is nothing to read. From iOS 10 on a title heads the entry, before and
  /// without one the app's name (D-203). While previews are hidden only what the category lets through (D-126).
  func words(of notice: Notice, of app: Int) -> (heading: String, subtitle: String, body: String) {
    let appearance = notice.content.appearance
    guard appearance.showsText else { return ("", "", "") }
    let name = apps[app].description.name
    let isTitled = settings.iosVersion.major >= 10
    let title = isTitled ? appearance.title?.shown : nil
    let subtitle = isTitled ? appearance.subtitle?.shown ?? "" : ""
    guard previewsAreHidden(of: app) else { return (title ?? name, subtitle, appearance.body?.shown ?? "") }
    let category = category(of: notice, app)
    let options = category?.options ?? []
    return (
      (options.contains(.hiddenPreviewsShowTitle) ? title : nil) ?? name,
      options.contains(.hiddenPreviewsShowSubtitle) ? subtitle : "",
      hiddenBody(category?.hiddenPreviewsBodyPlaceholder, notice, app)
    )
  }

  /// Whether texts of this app are kept from whoever looks at the screen now. iOS 11 brought the setting to all apps;
  /// before the first unlock they always are (D-185).
  func previewsAreHidden(of app: Int) -> Bool {
    if awaitsFirstUnlock { return true }
    guard settings.iosVersion.major >= 11 else { return false }
    switch apps[app].permission.previews(on: settings) {
    case .always: return false
    case .whenUnlocked: return isLocked
    case .never: return true
    }
  }

  /// `%u` stands for the number of the app's entries of this thread, this one among them.
  private func hiddenBody(_ placeholder: String?, _ notice: Notice, _ app: Int) -> String {
    guard let placeholder, !placeholder.isEmpty else { return "Notification" }
    let thread = notice.content.payload.threadID ?? ""
    let others = apps[app].entries.count {
      $0.id != notice.id && ($0.notice.content.payload.threadID ?? "") == thread
    }
    return placeholder.replacing("%u", with: "\(others + 1)", maxReplacements: 1)
  }

  /// What a paired watch heads it with; the phone itself shows titles from iOS 10 on (D-203).
  func watchTitle(of notice: Notice) -> String? {
    guard IOSVersion(8, 2) <= settings.iosVersion, settings.iosVersion.major < 10 else { return nil }
    return notice.content.appearance.title?.shown
  }
}

extension TimelineEntry.Shown {
  /// The text as a banner has room for it: heading, subtitle, and two to four lines of body of at most `width`
  /// characters, broken between words where that is possible; what does not fit ends in an ellipsis (D-204).
  public func bannerLines(width: Int, bodyLines: Int = 4) -> [String] {
    let width = max(width, 1)
    var lines = [heading, subtitle].filter { !$0.isEmpty }.map { $0.cut(to: width) }
    var body = self.body[...]
    let most = min(max(bodyLines, 2), 4)
    for number in 1...most where !body.isEmpty {
      if number == most {
        lines.append(String(body).cut(to: width))
      } else {
        lines.append(body.takeLine(width))
      }
    }
    return lines
  }
}

extension String {
  fileprivate func cut(to width: Int) -> String { count <= width ? self : "\(prefix(width - 1))…" }
}

extension Substring {
  /// Takes one line off the front.
  fileprivate mutating func takeLine(_ width: Int) -> String {
    var line = prefix(width)
    if let newline = line.firstIndex(of: "\n") {
      line = line[..<newline]
      self = self[index(after: newline)...]
      return String(line)
    }
    if line.endIndex != endIndex, self[line.endIndex] != " ", let space = line.lastIndex(of: " ") {
      line = line[..<space]
    }
    self = self[line.endIndex...].drop { $0 == " " }
    return String(line)
  }
}
