/// The paths of JPush's Admin API (jpush.md §9), with what stands before them cut off.
extension Routing {
  init(app parts: [String], _ method: String) {
    switch parts.count {
    case 0: self.init(.admin, method, ["POST": .createApp])
    case 1: self.init(.admin, method, ["DELETE": .deleteApp(parts[0])])
    case 2 where parts[1] == "delete":
      self.init(.admin, method, ["POST": .deleteApp(parts[0]), "DELETE": .deleteApp(parts[0])])
    case 2 where parts[1] == "certificate": self.init(.admin, method, ["POST": .uploadCertificates(parts[0])])
    case _: self.init(.admin, .unknown)
    }
  }
}
