internal import Audience
internal import Messages
internal import Store
internal import Transport

/// The connections of one loop, and what was announced to it. Everything on the loop.
final class SessionTable: @unchecked Sendable {  // guarded by `loop`
  /// Positions of an app that were announced one after the other, without a gap.
  private struct Run {
    var from: Int64
    var to: Int64
  }

  let loop: EventLoop
  private var all: [ObjectIdentifier: GatewayConnection] = [:]
  private var sessions: [Int64: [DeviceOrdinal: GatewayConnection]] = [:]
  private var runs: [Int64: Run] = [:]

  init(_ loop: EventLoop) { self.loop = loop }

  func add(_ connection: GatewayConnection) { all[ObjectIdentifier(connection)] = connection }

  func remove(_ connection: GatewayConnection) { all[ObjectIdentifier(connection)] = nil }

  /// The newest connection of a device is the one that is told, in whatever order they come here.
  func enter(_ device: SessionDevice, _ connection: GatewayConnection) {
    if let other = sessions[device.app]?[device.ordinal], other.number > connection.number { return }
    sessions[device.app, default: [:]][device.ordinal] = connection
  }

  func leave(_ device: SessionDevice, _ connection: GatewayConnection) {
    guard sessions[device.app]?[device.ordinal] === connection else { return }
    sessions[device.app]?[device.ordinal] = nil
    guard sessions[device.app]?.isEmpty == true else { return }
    sessions[device.app] = nil
    runs[device.app] = nil
  }

  func announce(_ notice: InboxNotice, _ frame: [UInt8]) {
    let position = notice.entry.position
    guard let sessions = sessions[notice.app] else { return }
    if let run = runs[notice.app], run.to + 1 == position {
      runs[notice.app]?.to = position
    } else {
      runs[notice.app] = Run(from: position, to: position)
    }
    let from = runs[notice.app]?.from ?? position
    let count = notice.audience.reduce(0) { $0 + $1.devices.count }
    guard count > sessions.count else {
      for part in notice.audience {
        for ordinal in part.devices { sessions[ordinal]?.announced(notice.entry, from: from, frame) }
      }
      return
    }
    let shards = Dictionary(notice.audience.map { ($0.shard, $0.devices) }) { $0.union($1) }
    for (ordinal, connection) in sessions where shards[ordinal.shard]?.contains(ordinal) == true {
      connection.announced(notice.entry, from: from, frame)
    }
  }

  func end(app: Int64, _ end: InboxEnd) {
    switch end {
    case .appDeleted: for connection in (sessions[app] ?? [:]).values { connection.end(.appDeleted) }
    case .deviceDeleted(let ordinal): sessions[app]?[ordinal]?.end(.deviceDeleted)
    case .secretReplaced(let ordinal): sessions[app]?[ordinal]?.end(.secretReplaced)
    }
  }

  func drain(spread: Int64) {
    for connection in all.values { connection.drain(after: Int64.random(in: 0...spread)) }
  }

  func cut() { for connection in all.values { connection.cut() } }
}
