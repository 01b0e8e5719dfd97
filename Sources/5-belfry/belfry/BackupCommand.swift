import PushService
import Store
import StoreSQLite

let backupCommand = Command(
  name: "backup",
  summary: "Write a data folder's database to a file, while the service runs",
  discussion: """
    The file is the database as it was at one moment: apps, devices, pushes, schedules. It holds device tokens; keep it as \
    you keep the folder. What is beside the database is not in it: Belfry's configuration, the files of credentials, and \
    the simulator's own.
    A file that is there is never written over, and a run that is broken off leaves none.
    """,
  arguments: [.init(name: "FILE", help: "What to write; must not be there")],
  options: [ServiceBeside.dataOption],
  run: { parsed in
    let folder = FolderService.folder(parsed)
    let path = parsed.arguments[0]
    do throws(StoreFault) { try await StoreSQLite.backUp(folder: folder, to: path) } catch {
      throw CommandFault("\(error)")
    }
    Terminal.print("\(path)  \(Files.size(path) ?? 0) bytes")
    let name = Files.name(of: path)
    do { try await FolderService.with(parsed) { try await $0.service.noteBackup(name) } } catch {
      Terminal.complain("the backup is whole, but the audit log does not tell of it: \(error)")
    }
    return .success
  })

let restoreCommand = Command(
  name: "restore",
  summary: "Put a backup into a data folder that has no database",
  discussion: """
    A backup of an older Belfry is brought up to date when the service starts; one of a newer Belfry, or a damaged one, is \
    refused. Pushes that were under way at the time of the backup go on from there, so some devices may get them twice.
    """,
  arguments: [.init(name: "FILE", help: "What 'belfry backup' wrote")],
  options: [ServiceBeside.dataOption],
  run: { parsed in
    let folder = FolderService.folder(parsed)
    do throws(StoreFault) { try await StoreSQLite.restore(parsed.arguments[0], toFolder: folder) } catch {
      throw CommandFault("\(parsed.arguments[0]): \(error)")
    }
    Terminal.print("restored to \(Files.absolute(folder))")
    return .success
  })
