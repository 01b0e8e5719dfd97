import PushPayload

/// A notification on its way through the phone: a push as it came, or as the service extension left it, or one that an
/// app made itself.
struct Notice: Sendable {
  /// The identifier of the notification request: the collapse id, else one of the system's own (D-235).
  var id: String
  var bundleID: String
  var origin: Origin
  var content: Content

  indirect enum Origin: Sendable {
    case remote(DeliveredPayload)
    case local(LocalNotification)
  }

  init(_ push: DeliveredPayload) {
    id = push.requestID
    bundleID = push.bundleID
    origin = .remote(push)
    content = push.content
  }

  init(_ local: LocalNotification, _ content: Content, bundleID: String) {
    id = local.id
    self.bundleID = bundleID
    origin = .local(local)
    self.content = content
  }

  /// What the timeline calls it: the `apns-id` of a push, the request's identifier of a local notification.
  var pushID: String {
    switch origin {
    case .remote(let push): push.id
    case .local: id
    }
  }

  /// nil: it was made on this phone.
  var push: DeliveredPayload? {
    switch origin {
    case .remote(let push): push
    case .local: nil
    }
  }

  var kind: PushKind {
    switch origin {
    case .remote(let push): content.kind(push.pushType)
    case .local: content.kind(.alert)
    }
  }
}
