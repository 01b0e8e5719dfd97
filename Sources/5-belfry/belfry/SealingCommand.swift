import PushService
import StoreSQLite

let sealingRotateCommand = Command(
  name: "sealing rotate",
  summary: "Make a new sealing key, and seal what is kept under it",
  discussion: """
    The new key stands first in its file; those of before stay, since older backups open under them only. Where the key \
    stands in \(SealingKey.Source.variable), put a new one before it there, with a space between, and run this: it seals \
    under the first.
    The service must not run meanwhile. Broken off at any moment, what is kept still opens: run it again.
    """,
  options: [ServiceBeside.dataOption],
  run: { parsed in
    let folder = try FolderService.existingFolder(parsed)
    let store: StoreSQLite
    do { store = try await StoreSQLite.open(folder: folder) } catch { throw CommandFault(dataFolder: folder, error) }
    do {
      let source = SealingKey.Source(processEnvironment())
      let absolute = Files.absolute(folder)
      let key = try SealingKey.renew(source, dataFolder: absolute) ?? SealingKey.read(source, dataFolder: absolute)
      let service = FolderService(folder, store, sealing: key).service
      do { try await AuditContext.$current.withValue(.ofCommand) { try await service.reseal() } } catch {
        throw CommandFault("\(error)")
      }
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    Terminal.print("sealed under the new key")
    return .success
  })
