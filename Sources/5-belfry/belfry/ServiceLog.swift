import APNSClient
import Basics
import PushService
import Transport

/// One line an event on standard error, for operators: time, level, words, fields. Holds no secret, no device token and
/// no payload text.
struct ServiceLog: Sendable {
  let clock: any WallClock
  /// Whether what is usual is told too, or only what wants a look.
  var isVerbose: Bool

  func service(_ event: ServiceEvent) {
    switch event {
    case .alarm(let app, let message, let reason): write("alarm", reason, ["app": app, "msg_id": "\(message)"])
    case .alarmOver(let app): write("info", "sending goes on", ["app": app])
    case .accepted(let app, let message, let targeted):
      detail("push accepted", ["app": app, "msg_id": "\(message)", "targeted": "\(targeted)"])
    case .finished(let app, let message): detail("push finished", ["app": app, "msg_id": "\(message)"])
    case .tokenRetired(let app, let id, let reason):
      detail("token retired: \(reason)", ["app": app, "registration_id": id])
    case .tokenKept(let app, let id, let reason): detail("token kept: \(reason)", ["app": app, "registration_id": id])
    case .storeTrouble(let words): write("alarm", words, [:])
    }
  }

  func client(_ event: APNSClientEvent) {
    switch event {
    case .connected(let endpoint): detail("connected to APNs", ["at": "\(endpoint)"])
    case .disconnected(let endpoint, let why): detail("disconnected from APNs: \(why)", ["at": "\(endpoint)"])
    case .connectFailed(let fault): write("warning", "\(fault)", [:])
    case .goAway(let endpoint, let reason): detail("GOAWAY: \(reason ?? "no reason")", ["at": "\(endpoint)"])
    case .alarm(let words): write("alarm", words, [:])
    case .certificateEnding(let words): write("warning", words, [:])
    }
  }

  private func detail(_ words: String, _ fields: [String: String]) {
    if isVerbose { write("info", words, fields) }
  }

  private func write(_ level: String, _ words: String, _ fields: [String: String]) {
    let told = fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    Terminal.complain("\(clock.now) \(level) \(words)\(told)")
  }
}
