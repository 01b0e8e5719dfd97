import Basics
import PushPayload

/// Sees when the credentials change, in files, in the store, or because somebody says so (SIGHUP), and hands them on. What
/// cannot be read changes nothing and is told once; the next change is looked at again.
struct CredentialWatch: Sendable {
  let senders: Senders
  let clock: any WallClock
  let log: ServiceLog
  /// The files that the credentials are made from, and the configuration's own; read anew each time.
  let files: @Sendable () -> [String]
  /// Other than before when those in the store changed, by whichever process; nil when that cannot be known now.
  var versions: @Sendable () async -> [Int64: Int64]? = { nil }
  /// The credentials as they are now; throws with the file's name and what is wrong.
  let read: @Sendable () async throws -> [Senders.Entry]
  /// Tries again what is held back; answers whose.
  var resume: @Sendable () async -> [String] = { [] }

  /// Between two looks at the files.
  static let period = Instant.Span.seconds(5)
  /// Between two looks at the dates of certificates.
  static let termPeriod = Instant.Span.hours(1)

  /// Until its task is cancelled. `changes`: this process changed some in the store.
  func run(hangups: AsyncStream<Void>, changes: AsyncStream<Void> = AsyncStream { $0.finish() }) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in changes { await reread(why: "a credential was uploaded or removed", resumes: true) }
      }
      group.addTask {
        for await _ in hangups { await reread(why: "SIGHUP", resumes: true) }
      }
      group.addTask { await watch() }
    }
  }

  private func watch() async {
    var seen = stamps()
    var known = await versions()
    var lookedAt = clock.uptime  // the terms were, as the service started
    while (try? await clock.sleep(for: Self.period)) != nil {
      if clock.uptime.milliseconds - lookedAt.milliseconds >= Self.termPeriod.milliseconds {
        lookedAt = clock.uptime
        await senders.lookAtTerms()
      }
      if let now = await versions(), now != known {
        known = now
        await reread(why: "the credentials in the store changed", resumes: true)
      }
      let now = stamps()
      guard now != seen else { continue }
      seen = now
      await reread(why: "a file changed")
      seen = stamps()  // the configuration may name others now
    }
  }

  private func stamps() -> [String: String] {
    Dictionary(files().map { ($0, Files.stamp($0) ?? "") }) { $1 }
  }

  /// Reads the credentials anew, and tells what came of it. `resumes`: somebody says that all is well now, so what was held
  /// back is tried again, with one push first.
  func reread(why: String, resumes: Bool = false) async {
    do {
      let changed = await senders.replace(try await read())
      let resumed = resumes ? await resume() : []
      log.tell(
        .notice, "credentials_read",
        changed.isEmpty
          ? "the credentials were read again; none has changed"
          : "changed credentials are used from the next connection on",
        [
          "why": .string(why), "changed": .array(changed.map { .string($0) }),
          "resumed": .array(resumed.map { .string($0) }),
        ])
    } catch {
      let words = (error as? CommandFault)?.words ?? "\(error)"
      log.tell(
        .alarm, "credentials_unreadable", "\(words). The credentials from before go on", ["why": .string(why)])
    }
  }
}
