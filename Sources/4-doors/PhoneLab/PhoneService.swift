public import APNSSimulator
public import Phone

/// The push service that the apps of the lab's phones talk to, as far as their SDK does. Calls come from any task, for
/// many phones at a time; every answer may take as long as it likes.
public protocol PhoneService: Sendable {
  /// Takes an app's token of remote notifications (D-016) and answers the registration id (D-018); nil: not taken.
  func register(_ app: LabApp, token: [UInt8], environment: SimulatedEnvironment) async -> String?

  /// Takes a token of PushKit or of Live Activities.
  func take(_ token: [UInt8], kind: Phone.TokenKind, environment: SimulatedEnvironment, of app: LabApp) async

  /// Opens an app's connection for in-app messages: on it go those numbered above `after`, oldest first, then each that
  /// comes (D-303 … D-305). False: no connection, and the SDK does not ask again before the app comes to front anew.
  func connect(_ line: MessageLine, after: Int64) async -> Bool

  /// The app has closed the line: what is sent on it arrives nowhere.
  func closed(_ line: MessageLine)

  /// All messages of the app's user, oldest first (D-302); nil: no answer.
  func messageHistory(of app: LabApp) async -> [InAppMessage]?

  /// Keeps "only the scheduled push" for the app's user; false: refused (D-332).
  func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool
}

/// A service without messages and preference is one that takes tokens.
extension PhoneService {
  public func take(
    _ token: [UInt8], kind: Phone.TokenKind, environment: SimulatedEnvironment, of app: LabApp
  ) async {}
  public func connect(_ line: MessageLine, after: Int64) async -> Bool { false }
  public func closed(_ line: MessageLine) {}
  public func messageHistory(of app: LabApp) async -> [InAppMessage]? { nil }
  public func setOnlyScheduled(_ onlyScheduled: Bool, for app: LabApp) async -> Bool { false }
}

/// An app on a phone of the lab. Equal for the same app whether its registration id is known or not.
public struct LabApp: Hashable, Sendable {
  public let phone: String
  public let bundleID: String
  /// As the app knows it when it calls; nil: not yet.
  public let registrationID: String?

  init(_ phone: String, _ bundleID: String, _ registrationID: String? = nil) {
    self.phone = phone
    self.bundleID = bundleID
    self.registrationID = registrationID
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.phone == right.phone && left.bundleID == right.bundleID
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(phone)
    hasher.combine(bundleID)
  }
}

struct RegisteringService: PhoneService {
  let registrar: PhoneLab.Registrar

  func register(_ app: LabApp, token: [UInt8], environment: SimulatedEnvironment) async -> String? {
    await registrar(app.phone, app.bundleID, token, environment)
  }
}
