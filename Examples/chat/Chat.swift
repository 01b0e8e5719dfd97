import BelfryKit
import BelfryKitTransport
import Foundation
import Transport

/// The smallest app: prints its messages, a line each, on Linux or a Mac. Kill it as you like: each line comes, in order, and
/// at most the last one before a kill comes again.
@main
struct Chat {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count >= 6, let service = URL(string: words[1]), let gateway = URL(string: words[2]),
      let token = bytes(ofHex: words[5])
    else {
      FileHandle.standardError.write(
        Data("usage: belfry-chat SERVICE GATEWAY APP_KEY FOLDER TOKEN [ALIAS]\n".utf8))
      exit(2)
    }
    let configuration = Belfry.Configuration(
      appKey: words[3], service: service, gateway: gateway, folder: URL(fileURLWithPath: words[4]))
    let loops = LoopGroup(count: 1)
    let belfry = try Belfry(configuration, transport: LoopTransport(on: loops.next()))
    do {
      try await belfry.register(token: token, environment: .sandbox)
      if words.count > 6 { _ = try await belfry.setAlias(words[6], whenOffline: .queue) }
    } catch {
      // no service yet: the library goes on trying
      FileHandle.standardError.write(Data("\(error)\n".utf8))
    }
    await belfry.enterForeground()
    for await event in belfry.messages {
      switch event {
      case .message(let message): say("\(message.id) \(message.content)")
      case .withdrawn(let id): say("\(id) was withdrawn")
      }
    }
  }

  /// Without a buffer, so that what was said stays said.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  private static func bytes(ofHex hex: String) -> [UInt8]? {
    guard hex.utf8.count.isMultiple(of: 2), !hex.isEmpty else { return nil }
    var bytes: [UInt8] = []
    var rest = Substring(hex)
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
