public import Basics

/// A call that an app has reported to CallKit, and the system shows on its own screen (D-186).
public struct PhoneCall: Hashable, Sendable {
  public var bundleID: String
  /// The handle that the app gave.
  public var caller: String
  public var isAnswered = false
  public var since: Instant
}

/// The call screen.
extension Phone {
  mutating func reportIncomingCall(from caller: String, by app: Int) {
    let bundleID = apps[app].description.bundleID
    record(.app("reports a call from \(caller)"), app, "D-186")
    apps[app].pushKit.owesCall = false
    later.append(.handler(bundleID, .incomingCallReported, .call(from: caller), "D-186"))
    guard call == nil else {
      return record(.notModelled("a second call, from \(caller), while there is one"), app, "D-186")
    }
    call = PhoneCall(bundleID: bundleID, caller: caller, since: now)
    record(
      .shown(
        TimelineEntry.Shown(pushID: "", id: "call", parts: .call, heading: apps[app].description.name, body: caller)),
      app, "D-186")
  }

  /// The other side is gone, and the app says so.
  mutating func reportCallEnded(by app: Int) {
    guard let call, call.bundleID == apps[app].description.bundleID else {
      return record(.fault("reports the end of a call that it has not"), app, "D-186")
    }
    record(.app("reports that the call is over"), app, "D-186")
    endCall("the caller is gone")
  }

  mutating func answerCall() {
    guard let ringing = call, !ringing.isAnswered, let app = index(of: ringing.bundleID) else {
      return record(.user("finds no call to answer"), nil, "D-186")
    }
    record(.user("answers the call from \(ringing.caller)"), app, "D-186")
    call?.isAnswered = true
    call(.performAnswerCall, of: app, .call(from: ringing.caller), "D-186")
  }

  /// Declines the call that rings, or ends the one that was answered.
  mutating func endCallByUser(answered: Bool) {
    guard let present = call, present.isAnswered == answered, let app = index(of: present.bundleID) else {
      return record(.user("finds no call to \(answered ? "end" : "decline")"), nil, "D-186")
    }
    record(.user("\(answered ? "ends" : "declines") the call from \(present.caller)"), app, "D-186")
    call(.performEndCall, of: app, .call(from: present.caller), "D-186")
    endCall(answered ? "ended" : "declined")
  }

  /// An app with a call goes on running behind (D-186).
  func isInCall(_ app: Int) -> Bool { call?.bundleID == apps[app].description.bundleID }

  /// Its app is gone, so is the call.
  mutating func dropCall(of app: Int) {
    if isInCall(app) { endCall("its app was ended") }
  }

  private mutating func endCall(_ reason: String) {
    guard let over = call else { return }
    call = nil
    let app = index(of: over.bundleID)
    record(.system("the call screen is gone: \(reason)"), app, "D-186")
    if let app { suspendIfIdle(app, "D-158") }
  }
}
