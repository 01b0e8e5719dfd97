extension Callback {
  /// What was known of the app when a call was chosen: with it the reason is told when it is asked for, not before.
  struct Circumstances: Hashable, Sendable {
    var version = IOSVersion(0)
    var delegateSet = false
    private var implemented: Implemented = []
    private var hasRemoteNotificationMode = false

    private struct Implemented: OptionSet, Hashable {
      let rawValue: UInt8
      static let drn = Self(rawValue: 1)
      static let drf = Self(rawValue: 2)
      static let willPresent = Self(rawValue: 4)
      static let response = Self(rawValue: 8)
      static let action = Self(rawValue: 16)
      static let actionWithResponse = Self(rawValue: 32)
    }

    /// What the description alone says.
    init(_ description: AppDescription) {
      let methods: [(Method, Implemented)] = [
        (.didReceiveRemoteNotification, .drn), (.didReceiveRemoteNotificationFetch, .drf),
        (.willPresent, .willPresent), (.didReceiveResponse, .response), (.handleAction, .action),
        (.handleActionWithResponse, .actionWithResponse),
      ]
      for (method, bit) in methods where description.implements.contains(method) { implemented.insert(bit) }
      hasRemoteNotificationMode = description.backgroundModes.contains(.remoteNotification)
    }
  }
}

extension Phone {
  func circumstances(of app: Int) -> Callback.Circumstances {
    var circumstances = apps[app].circumstances
    circumstances.version = settings.iosVersion
    circumstances.delegateSet = apps[app].delegateSet
    return circumstances
  }
}
