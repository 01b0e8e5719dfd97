import Basics
import Testing
import Transport

@Suite("HTTP server: peers that leave")
struct HTTPServerDepartureTests {
  @Test("cancels the handler of a peer that has left, if that is asked for; one that closed a side gets the answer")
  func peerLeaves() async throws {
    var limits = HTTPLimits()
    limits.cancelsHandlersOfGonePeers = true
    limits.reading = .milliseconds(200)  // looks four times as often
    let (entered, enter) = AsyncStream.makeStream(of: String.self)
    let handler: HTTPServerTests.Handler = { request in
      enter.yield("began")
      // Ends by cancellation only.
      let (never, _) = AsyncStream.makeStream(of: Void.self)
      for await _ in never {}
      enter.yield("cancelled")
      return HTTPResponse(status: 200, body: Array("late".utf8))
    }
    try await HTTPServerTests.withServer(limits, handler: handler) { endpoint in
      let answer = try await onThread {
        let leaver = try PlainSocket(endpoint)
        leaver.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        leaver.finishSending()
        return leaver.readAnswer()
      }
      #expect(answer?.body == "late")
      var events = entered.makeAsyncIterator()
      #expect(await events.next() == "began")
      #expect(await events.next() == "cancelled")
      try await onThread { _ = try PlainSocket(endpoint).send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
      #expect(await events.next() == "began")
      #expect(await events.next() == "cancelled")
    }
  }
}
