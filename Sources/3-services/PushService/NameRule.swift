/// What the names that callers give may look like: tags, aliases, registration ids (jpush.md §7; case C30).
public enum NameRule: Sendable {
  case tag
  case alias
  case registrationID
  /// What our own resources are called: segments, A/B tests and their variants.
  case resource
  /// A Live Activity's id and its attributes type.
  case activity
  /// A schedule's name (jpush.md §6).
  case schedule

  /// Bytes of UTF-8.
  private var limit: Int {
    switch self {
    case .tag, .alias: 40
    case .registrationID, .resource, .activity: 64
    case .schedule: 255
    }
  }

  private var allowed: String {
    switch self {
    case .tag, .alias: "Allowed are letters, digits, underscore, Chinese characters and @!#$&*+=.|￥."
    case .registrationID: "A registration id has only digits and letters."
    case .resource: "Allowed are letters and digits of ASCII, hyphens and underscores."
    case .activity: "Allowed are letters and digits of ASCII, hyphens, underscores, dots and colons."
    case .schedule: "Allowed are letters, digits, underscore and Chinese characters."
    }
  }

  private func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch (self, scalar) {
    case (_, "a"..."z"), (_, "A"..."Z"), (_, "0"..."9"): true
    case (.resource, "-"), (.resource, "_"): true
    case (.activity, "-"), (.activity, "_"), (.activity, "."), (.activity, ":"): true
    case (.registrationID, _), (.resource, _), (.activity, _): false
    case (.schedule, _): scalar == "_" || scalar.properties.isIdeographic
    case (.tag, _), (.alias, _): Self.special.contains(scalar) || scalar.properties.isIdeographic
    }
  }

  private static let special = Set("_@!#$&*+=.|￥".unicodeScalars)

  /// A fault names the first character that may not be there, and its place counted from 1.
  public func check(_ name: String, _ code: RequestFault.Code, at place: String) throws(RequestFault) {
    func wrong(_ found: String, _ remedy: String) -> RequestFault {
      RequestFault(code, at: place, found: found, remedy: remedy)
    }
    guard !name.isEmpty else { throw wrong("the string is empty", "Give a name or leave it out.") }
    for (index, scalar) in name.unicodeScalars.enumerated() where !allows(scalar) {
      throw wrong("\(quoted(name)) has \(scalar.inWords) at character \(index + 1)", allowed)
    }
    guard name.utf8.count <= limit else {
      throw wrong("\(quoted(name)) has \(name.utf8.count) bytes of UTF-8", "At most \(limit) bytes are allowed.")
    }
  }
}
