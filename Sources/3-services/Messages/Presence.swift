public import Audience
public import Basics

/// Who is connected, and who has left lately. May be used from any thread.
public final class Presence<Connection: AnyObject & Sendable>: Sendable {
  private struct Entry {
    var number: UInt64
    var connection: Connection
  }

  private struct State {
    var connections: [SessionDevice: Entry] = [:]
    var connected: [Int64: DeviceSet] = [:]
    var left: [SessionDevice: Instant] = [:]
    var lastNumber: UInt64 = 0
  }

  private let state = Locked(State())

  /// Who left longer ago is as one who was never here.
  private let memory = Instant.Span.minutes(10)
  private static var mostLeft: Int { 100_000 }

  public init() {}

  /// A number for a new connection, above all that were given.
  public func nextNumber() -> UInt64 {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  public enum Entering: Sendable {
    case entered(instead: Connection?)
    /// A newer connection of the device is here.
    case tooLate
  }

  /// The newest connection of a device is the one that counts, in whatever order they come here.
  public func enter(_ device: SessionDevice, _ number: UInt64, _ connection: Connection) -> Entering {
    state.withLock { state in
      let old = state.connections[device]
      if let old, old.number > number { return .tooLate }
      state.connections[device] = Entry(number: number, connection: connection)
      state.left[device] = nil
      if old == nil { _ = state.connected[device.app, default: DeviceSet()].insert(device.ordinal) }
      return .entered(instead: old?.connection === connection ? nil : old?.connection)
    }
  }

  /// Nothing happens when another connection of the device has entered since.
  public func leave(_ device: SessionDevice, _ number: UInt64, at now: Instant) {
    state.withLock { state in
      guard state.connections[device]?.number == number else { return }
      state.connections[device] = nil
      _ = state.connected[device.app]?.remove(device.ordinal)
      if state.left.count >= Self.mostLeft {
        let memory = memory
        state.left = state.left.filter { now - $0.value < memory }
        if state.left.count >= Self.mostLeft { state.left = [:] }
      }
      state.left[device] = now
    }
  }

  public var count: Int { state.withLock { $0.connections.count } }

  public func connected(app: Int64) -> DeviceSet { state.withLock { $0.connected[app] ?? DeviceSet() } }

  public func hasAnybody(of app: Int64) -> Bool { state.withLock { $0.connected[app]?.isEmpty == false } }

  /// true: connected; false: left within ten minutes; nil: neither.
  public func isConnected(_ device: SessionDevice, at now: Instant) -> Bool? {
    state.withLock { state in
      if state.connections[device] != nil { return true }
      guard let left = state.left[device], now - left < memory else { return nil }
      return false
    }
  }
}
