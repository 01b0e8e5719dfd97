/// What a push asks the phone for: the values of `apns-push-type` (Apple, "Sending notification requests to APNs").
public enum PushType: String, CaseIterable, Sendable {
  case alert, background, voip, complication, fileprovider, mdm, location, liveactivity, pushtotalk, controls, widgets
}

/// The values of `apns-priority`.
public enum PushPriority: UInt8, CaseIterable, Sendable {
  case immediate = 10
  case considerate = 5
  case powerFirst = 1
}
