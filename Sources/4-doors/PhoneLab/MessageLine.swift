internal import Basics
public import Phone

/// The phone's notion of a message, where the library's own is at hand too.
public typealias PhoneMessage = InAppMessage

/// A push service's connection to one app for in-app messages. May be used from any thread; after its end it does nothing.
public struct MessageLine: Sendable, Identifiable {
  enum News: Sendable {
    case message(InAppMessage)
    case cut
  }

  public let app: LabApp
  /// No other line of the lab has it.
  public let id: UInt64
  let sink: Underway.Sink<News>

  /// Sends one message down to the app; they arrive in this order.
  public func send(_ message: InAppMessage) { sink.yield(.message(message)) }

  /// The service ends the connection, or it broke. The SDK connects again a second later.
  public func cut() { sink.yield(.cut) }
}
