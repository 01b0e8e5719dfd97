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
    let incoming = PhoneCall(bundleID: bundleID, caller: caller, since: now)
    if call == nil {
      call = incoming
    } else if waitingCall == nil {
      waitingCall = incoming
    } else {
      return record(.system("no place for a third call, from \(caller): it is not shown"), app, "D-186")
    }
    record(
      .shown(
        TimelineEntry.Shown(pushID: "", id: "call", parts: .call, heading: apps[app].description.name, body: caller)),
      app, "D-186")
  }

  /// The other side is gone, and the app says so: of its two calls the one that came last.
  mutating func reportCallEnded(by app: Int) {
    let bundleID = apps[app].description.bundleID
    guard waitingCall?.bundleID == bundleID || call?.bundleID == bundleID else {
      return record(.fault("reports the end of a call that it has not"), app, "D-186")
    }
    record(.app("reports that the call is over"), app, "D-186")
    endCall(waiting: waitingCall?.bundleID == bundleID, "the caller is gone")
  }

  /// The call that rings; while another is answered that one, which answering the waiting one ends.
  mutating func answerCall() {
    guard let present = call else { return record(.user("finds no call to answer"), nil, "D-186") }
    guard present.isAnswered else { return answer(present) }
    guard let waiting = waitingCall else { return record(.user("finds no call to answer"), nil, "D-186") }
    record(.user("ends the call with \(present.caller) to answer"), index(of: present.bundleID), "D-186")
    if let app = index(of: present.bundleID) {
      call(.performEndCall, of: app, .call(from: present.caller), "D-186")
    }
    endCall(waiting: false, "ended for another")
    answer(waiting)
  }

  private mutating func answer(_ ringing: PhoneCall) {
    guard let app = index(of: ringing.bundleID) else { return }
    record(.user("answers the call from \(ringing.caller)"), app, "D-186")
    call?.isAnswered = true
    call(.performAnswerCall, of: app, .call(from: ringing.caller), "D-186")
  }

  /// Declines the call that rings, or ends the one that was answered.
  mutating func endCallByUser(answered: Bool) {
    let isWaiting = !answered && call?.isAnswered == true
    guard let present = isWaiting ? waitingCall : call, present.isAnswered == answered,
      let app = index(of: present.bundleID)
    else {
      return record(.user("finds no call to \(answered ? "end" : "decline")"), nil, "D-186")
    }
    record(.user("\(answered ? "ends" : "declines") the call from \(present.caller)"), app, "D-186")
    call(.performEndCall, of: app, .call(from: present.caller), "D-186")
    endCall(waiting: isWaiting, answered ? "ended" : "declined")
  }

  /// An app with a call goes on running behind (D-186).
  func isInCall(_ app: Int) -> Bool {
    let bundleID = apps[app].description.bundleID
    return call?.bundleID == bundleID || waitingCall?.bundleID == bundleID
  }

  /// Its app is gone, so are its calls.
  mutating func dropCall(of app: Int) {
    let bundleID = apps[app].description.bundleID
    if waitingCall?.bundleID == bundleID { endCall(waiting: true, "its app was ended") }
    if call?.bundleID == bundleID { endCall(waiting: false, "its app was ended") }
  }

  /// A call that waited takes the place of the one that is over.
  private mutating func endCall(waiting: Bool, _ reason: String) {
    guard let over = waiting ? waitingCall : call else { return }
    if !waiting { call = waitingCall }
    waitingCall = nil
    let app = index(of: over.bundleID)
    let what = call == nil ? "the call screen is gone" : "the call from \(over.caller) is gone from the call screen"
    record(.system("\(what): \(reason)"), app, "D-186")
    if let app { suspendIfIdle(app, "D-158") }
  }
}
