internal import Foundation

/// Of which environment of APNs a token is: that of the `aps-environment` entitlement with which the app was signed.
public enum APNSEnvironment: String, Hashable, Sendable, Codable {
  case production
  case sandbox
}

/// What the service is told of the device, for audiences, quiet hours and texts in the user's language. nil: nothing.
public struct DeviceFacts: Hashable, Sendable, Codable {
  public enum Permission: String, Hashable, Sendable, Codable {
    case notAsked
    case denied
    case authorized
    case provisional
  }

  public var osVersion: String?
  public var appVersion: String?
  /// As `zh-Hans-CN`.
  public var language: String?
  /// As `Asia/Shanghai`.
  public var timeZone: String?
  public var model: String?
  public var permission: Permission?

  public init(
    osVersion: String? = nil, appVersion: String? = nil, language: String? = nil, timeZone: String? = nil,
    model: String? = nil, permission: Permission? = nil
  ) {
    self.osVersion = osVersion
    self.appVersion = appVersion
    self.language = language
    self.timeZone = timeZone
    self.model = model
    self.permission = permission
  }

  /// As the system tells them now, without permission and model.
  public static var ofThisDevice: DeviceFacts {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return DeviceFacts(
      osVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
      appVersion: Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String,
      language: Locale.preferredLanguages.first, timeZone: TimeZone.current.identifier)
  }
}
