/// The paths of files (jpush.md §5.5), with what stands before them cut off.
extension Routing {
  init(file parts: [String], _ method: String) {
    switch parts {
    case []: self.init(.push, method, ["GET": .files])
    case ["alias"]: self.init(.push, method, ["POST": .uploadFile(.alias)])
    case ["registration_id"]: self.init(.push, method, ["POST": .uploadFile(.registrationID)])
    case _ where parts.count == 1:
      self.init(.push, method, ["GET": .file(parts[0]), "DELETE": .deleteFile(parts[0])])
    case _: self.init(.push, .unknown)
    }
  }

  /// Whether its body may be as large as a file.
  var takesUpload: Bool {
    switch target {
    case .served(.uploadFile), .served(.addFile): true
    case .served, .wrongMethod, .notServed, .unknown, .malformed: false
    }
  }
}
