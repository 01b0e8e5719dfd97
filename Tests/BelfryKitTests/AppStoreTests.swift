import Foundation
import Testing

@testable import BelfryKit

@Suite("What the library keeps on the disk")
struct AppStoreTests {
  /// A folder, and a store in it. `killed()` is what a process that is killed now leaves behind: its files as they are, without
  /// a word of goodbye.
  final class Scene {
    private let root: URL
    private(set) var folder: URL
    private(set) var store: AppStore

    init() throws {
      root = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-kit-\(UUID().uuidString)")
      folder = root
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      store = try AppStore(folder: folder)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func killed() throws {
      let copy = root.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where file.hasPrefix("belfry-kit.sqlite") && !file.hasSuffix("-shm") {
        try FileManager.default.copyItem(
          at: folder.appendingPathComponent(file), to: copy.appendingPathComponent(file))
      }
      folder = copy
      store = try AppStore(folder: copy)
    }
  }

  static func message(_ seq: Int64, id: String? = nil) -> MessageEvent {
    .message(InAppMessage(id: id ?? "\(seq)00", seq: seq, at: 0, content: "\(seq)", extras: ["n": .integer(seq)]))
  }

  @Test("killed between receipt and handling: the message is given after the next start, and the cursor is past it")
  func killedBeforeHandling() async throws {
    let scene = try Scene()
    #expect(try await scene.store.keep(Self.message(1), seq: 1))
    #expect(try await scene.store.keep(Self.message(2), seq: 2))
    try scene.killed()
    #expect(try await scene.store.cursor() == .init(seq: 2, id: "200"))
    let first = try #require(try await scene.store.next(handled: nil))
    #expect(first.event == Self.message(1))
    // given to the app, not handled
    try scene.killed()
    let again = try #require(try await scene.store.next(handled: nil))
    #expect(again.event == Self.message(1))
    // handled; killed before the app came for more than the next
    #expect(try await scene.store.next(handled: again.position)?.event == Self.message(2))
    try scene.killed()
    let second = try #require(try await scene.store.next(handled: nil))
    #expect(second.event == Self.message(2))
    #expect(try await scene.store.next(handled: second.position) == nil)
  }

  @Test("a message that comes again is not given again, whatever its place")
  func doubles() async throws {
    let scene = try Scene()
    #expect(try await scene.store.keep(Self.message(1), seq: 1))
    #expect(try await !scene.store.keep(Self.message(1), seq: 1))
    let first = try #require(try await scene.store.next(handled: nil))
    #expect(try await scene.store.next(handled: first.position) == nil)
    try scene.killed()
    #expect(try await !scene.store.keep(Self.message(1), seq: 1))
    // the service's backup was put back: other messages have the numbers of former ones
    #expect(try await scene.store.keep(Self.message(1, id: "another"), seq: 1))
    #expect(try await scene.store.waitingCount() == 1)
  }

  @Test("withdrawn: unseen it vanishes, seen the app is told once, unknown it is nothing; the cursor moves")
  func withdrawn() async throws {
    let scene = try Scene()
    _ = try await scene.store.keep(Self.message(1), seq: 1)
    #expect(try await !scene.store.keep(.withdrawn(id: "100"), seq: 2))
    #expect(try await scene.store.next(handled: nil) == nil)
    _ = try await scene.store.keep(Self.message(3), seq: 3)
    let given = try #require(try await scene.store.next(handled: nil))
    #expect(try await scene.store.keep(.withdrawn(id: "300"), seq: 4))
    #expect(try await !scene.store.keep(.withdrawn(id: "300"), seq: 4))
    #expect(try await scene.store.next(handled: given.position)?.event == .withdrawn(id: "300"))
    #expect(try await !scene.store.keep(.withdrawn(id: "unknown"), seq: 5))
    #expect(try await scene.store.cursor() == .init(seq: 5, id: "unknown"))
  }

  @Test("another registration id has no cursor of the former one; a new secret keeps it")
  func registrations() async throws {
    let scene = try Scene()
    var registration = Registration(
      appKey: "key", id: "one", secret: "s1", token: DeviceToken(hex: "ab", environment: .sandbox), facts: DeviceFacts()
    )
    try await scene.store.setRegistration(registration)
    _ = try await scene.store.keep(Self.message(1), seq: 1)
    registration.secret = "s2"
    try await scene.store.setRegistration(registration)
    #expect(try await scene.store.cursor()?.seq == 1)
    registration.id = "two"
    try await scene.store.setRegistration(registration)
    try scene.killed()
    #expect(try await scene.store.cursor() == nil)
    #expect(try await scene.store.registration() == registration)
    // what the app had not handled is still its own
    #expect(try await scene.store.waitingCount() == 1)
    registration.appKey = "another app"
    try await scene.store.setRegistration(registration)
    #expect(try await scene.store.waitingCount() == 0)
  }

  @Test("calls are said in their order; of alias and badge only the newest")
  func calls() async throws {
    let scene = try Scene()
    for call: DeviceCall in [.alias("a"), .addTags(["t"]), .badge(1), .alias(nil), .badge(2), .removeTags(["t"])] {
      _ = try await scene.store.queue(call)
    }
    try scene.killed()
    var said: [DeviceCall] = []
    while let next = try await scene.store.nextCall() {
      said.append(next.call)
      try await scene.store.removeCall(next.position)
    }
    #expect(said == [.addTags(["t"]), .alias(nil), .badge(2), .removeTags(["t"])])
  }

  @Test("a report is noted once for a push and kind, also after the service has it")
  func reports() async throws {
    let scene = try Scene()
    let report = AppStore.QueuedReport(message: "1", kind: .clicked, at: 5)
    #expect(try await scene.store.note(report))
    #expect(try await !scene.store.note(report))
    #expect(try await scene.store.reportsToSay() == [report])
    try await scene.store.reportsTaken([report])
    try scene.killed()
    #expect(try await scene.store.reportsToSay() == [])
    #expect(try await !scene.store.note(report))
    #expect(try await scene.store.note(.init(message: "1", kind: .received, at: 5)))
  }

  @Test("what was read is said until the service has it, and is remembered for notifications that come late")
  func read() async throws {
    let scene = try Scene()
    try await scene.store.noteRead(["1", "2", "1"])
    try scene.killed()
    #expect(try await scene.store.toSayRead() == ["1", "2"])
    try await scene.store.readTaken(["1"])
    #expect(try await scene.store.toSayRead() == ["2"])
    #expect(try await scene.store.read(of: ["3", "1", "2"]) == ["1", "2"])
    // read again in the app: nothing new to say
    try await scene.store.noteRead(["1"])
    #expect(try await scene.store.toSayRead() == ["2"])
    try await scene.store.noteRead((10..<4000).map { "\($0)" })
    #expect(try await scene.store.read(of: ["2"]) == ["2"], "what the service does not have is never forgotten")
  }

  @Test("a file of the library's first form is brought to this one, and keeps what it has")
  func forms() async throws {
    let scene = try Scene()
    let folder = scene.folder.appendingPathComponent("old")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let old = try Database(folder.appendingPathComponent("belfry-kit.sqlite").path)
    try AppStoreSchema.bring(old, to: 1)
    try old.run("INSERT INTO read_marks (id) VALUES ('7')")
    let store = try AppStore(folder: folder)
    #expect(try await store.toSayRead() == ["7"])
    #expect(try await store.read(of: ["7"]) == ["7"])
  }

  @Test("two processes on one file, an app and its extension, do not lose each other's words")
  func twoProcesses() async throws {
    let scene = try Scene()
    let other = try AppStore(folder: scene.folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in [scene.store, other].enumerated() {
        group.addTask {
          for report in 0..<50 {
            _ = try await store.note(.init(message: "\(number)-\(report)", kind: .received, at: 0))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await scene.store.reportsToSay().count == 100)
  }

  @Test("a file that is no database is a fault of the disk, not the end of the app")
  func broken() throws {
    let scene = try Scene()
    let folder = scene.folder.appendingPathComponent("broken")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("this is no database, whatever its name".utf8).write(
      to: folder.appendingPathComponent("belfry-kit.sqlite"))
    #expect(throws: DatabaseFault.self) { try AppStore(folder: folder) }
  }
}
