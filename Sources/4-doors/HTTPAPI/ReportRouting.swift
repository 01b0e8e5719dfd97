/// The paths of JPush's reports (jpush.md §8), with what stands before them cut off.
extension Routing {
  init(groupReport parts: [String], _ method: String) {
    switch parts {
    case ["messages", "detail"]: self.init(.report, method, ["GET": .groupMessagesDetail])
    case ["users"]: self.init(.report, method, ["GET": .groupUsers])
    case _: self.init(.report, .unknown)
    }
  }

  init(report parts: [String], _ method: String) {
    switch parts {
    case ["received"]: self.init(.report, method, ["GET": .received])
    case ["received", "detail"]: self.init(.report, method, ["GET": .receivedDetail])
    case ["messages"]: self.init(.report, method, ["GET": .messages])
    case ["messages", "detail"]: self.init(.report, method, ["GET": .messagesDetail])
    case ["users"]: self.init(.report, method, ["GET": .users])
    case ["status", "message"]: self.init(.report, method, ["POST": .messageStatus])
    case _: self.init(.report, .unknown)
    }
  }
}
