public import Foundation

/// What a notification service extension does with a push of the service: says that it arrived, and fetches its attachments.
/// The extension is a process of its own; the app's `Belfry` gives it the registration by the folder that both name.
public struct PushExtension: Sendable {
  private let configuration: Belfry.Configuration
  private let transport: any BelfryTransport

  /// iOS takes no larger film, 10 MB of a picture, 5 MB of sound.
  public var mostAttachmentBytes = 50 << 20

  public init(_ configuration: Belfry.Configuration, transport: any BelfryTransport) {
    self.configuration = configuration
    self.transport = transport
  }

  /// Reports the push as received, and downloads its attachments. Answers the files, in the push's order; one that cannot be
  /// had is left out. A report that cannot be sent now is sent by the app's next start. Cancelling its task ends downloads:
  /// the files that are complete are answered.
  public func received(_ push: PushInfo) async -> [URL] {
    async let said: Void = report(push)
    let files = await download(push.attachments)
    await said
    return files
  }

  private func report(_ push: PushInfo) async {
    guard let message = push.messageID, let store = try? AppStore(folder: configuration.folder) else { return }
    let at = Int64(Date().timeIntervalSince1970 * 1000)
    let report = AppStore.QueuedReport(message: message, kind: .received, at: at)
    guard (try? await store.note(report)) == true, let registration = try? await store.registration() else { return }
    let api = DeviceAPI(transport: transport, service: configuration.service, appKey: registration.appKey)
    guard (try? await api.report(registration, [report])) != nil else { return }
    try? await store.reportsTaken([report])
  }

  private func download(_ addresses: [URL]) async -> [URL] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    guard !addresses.isEmpty,
      (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil
    else { return [] }
    return await withTaskGroup(of: (Int, URL)?.self) { group in
      for (index, address) in addresses.enumerated() {
        group.addTask { [transport, mostAttachmentBytes] in
          // the system tells a file's kind by its ending
          let name = address.lastPathComponent.isEmpty ? "file" : address.lastPathComponent
          let file = folder.appendingPathComponent("\(index)-\(name)")
          guard (try? await transport.download(address, to: file, limit: mostAttachmentBytes)) != nil else {
            return nil
          }
          return (index, file)
        }
      }
      var files: [(Int, URL)] = []
      for await file in group { if let file { files.append(file) } }
      return files.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
