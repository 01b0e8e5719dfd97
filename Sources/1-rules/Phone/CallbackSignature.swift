extension Callback.Method {
  /// Who declares a call: a delegate's protocol, or the class with the call whose completion handler it is.
  public enum Owner: String, CaseIterable, Sendable {
    case application = "UIApplicationDelegate"
    case scene = "UISceneDelegate"
    case centreDelegate = "UNUserNotificationCenterDelegate"
    /// In a process of its own.
    case serviceExtension = "UNNotificationServiceExtension"
    /// In a process of its own.
    case contentExtension = "UNNotificationContentExtension"
    /// The app's code is called by the completion handler that it gave.
    case centre = "UNUserNotificationCenter"
    case applicationHandler = "UIApplication"
    case pushRegistryDelegate = "PKPushRegistryDelegate"
    case callDelegate = "CXProviderDelegate"
    case callProvider = "CXProvider"
    /// Not a method: posted to whoever observes it.
    case notification = "NSNotificationCenter"
    /// ActivityKit knows no Objective-C: the next value of an asynchronous sequence.
    case activity = "Activity"
    case activityAuthorization = "ActivityAuthorizationInfo"
    /// The push service's SDK, whose names are ours.
    case sdk = "BelfryKit"

    /// The app's code is a closure, not a method.
    var takesHandler: Bool {
      switch self {
      case .application, .scene, .centreDelegate, .serviceExtension, .contentExtension, .notification,
        .pushRegistryDelegate, .callDelegate, .activity, .activityAuthorization, .sdk:
        false
      case .centre, .applicationHandler, .callProvider: true
      }
    }
  }

  /// As a header and Apple's documentation declare it; the rest is read from these, so that nothing can differ.
  struct Declaration {
    let owner: Owner
    let objectiveC: String
    let swift: String

    init(_ owner: Owner, _ objectiveC: String, _ swift: String) {
      self.owner = owner
      self.objectiveC = objectiveC
      self.swift = swift
    }

    /// A property whose values come by themselves; both languages' names are that of Swift.
    init(_ owner: Owner, sequence: String) {
      self.init(owner, sequence, sequence)
    }
  }

  public var owner: Owner { declaration.owner }

  /// The whole declaration, `- (void)applicationDidBecomeActive:(UIApplication *)application`.
  public var objectiveC: String { declaration.objectiveC }

  /// The whole declaration, `func applicationDidBecomeActive(_ application: UIApplication)`.
  public var swift: String { declaration.swift }

  private var isProperty: Bool {
    switch owner {
    case .activity, .activityAuthorization, .sdk: true
    case .application, .scene, .centreDelegate, .serviceExtension, .contentExtension, .notification, .centre,
      .applicationHandler, .pushRegistryDelegate, .callDelegate, .callProvider:
      false
    }
  }

  /// `Activity.pushTokenUpdates`
  private var propertyName: String {
    let words = swift.prefix { $0 != ":" }.split(separator: " ")
    return "\(owner.rawValue).\(words.last.map(String.init) ?? "")"
  }

  /// The Objective-C selector: `application:didReceiveRemoteNotification:`. Of a completion handler, that of the call
  /// that takes it.
  public var selector: String {
    guard !isProperty else { return propertyName }
    guard owner != .notification else { return objectiveC }
    let words = declaration.objectiveC.outsideParentheses.split(separator: " ").dropFirst()
    let parts = words.filter { $0.hasSuffix(":") }
    return parts.isEmpty ? words.first.map(String.init) ?? "" : parts.joined()
  }

  /// The Swift name with its labels: `application(_:didReceiveRemoteNotification:)`.
  public var swiftName: String {
    guard !isProperty else { return propertyName }
    guard owner != .notification else { return swift }
    let text = declaration.swift.dropFirst("func ".count)
    let name = text.prefix { $0 != "(" }
    let labels = text.dropFirst(name.count + 1).parameters.map { "\($0.prefix { $0 != " " && $0 != ":" }):" }
    return "\(name)(\(labels.joined()))"
  }
}

extension String {
  /// What stands in no parentheses; each pair leaves a space.
  fileprivate var outsideParentheses: String {
    var depth = 0
    return reduce(into: "") { text, character in
      switch character {
      case "(": depth += 1
      case ")":
        depth -= 1
        text.append(" ")
      case _ where depth == 0: text.append(character)
      default: break
      }
    }
  }
}

extension Substring {
  /// The parameters up to the closing parenthesis of their list.
  fileprivate var parameters: [String] {
    var parameters: [String] = []
    var one = ""
    var depth = 0
    for character in self {
      switch character {
      case ")" where depth == 0: return one.isEmpty ? parameters : parameters + [one]
      case "," where depth == 0:
        parameters.append(one)
        one = ""
      case " " where one.isEmpty: break
      default:
        if "([".contains(character) { depth += 1 }
        if ")]".contains(character) { depth -= 1 }
        one.append(character)
      }
    }
    return parameters
  }
}
