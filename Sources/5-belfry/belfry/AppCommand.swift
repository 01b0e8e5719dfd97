import Basics
import Bus
import PushPayload
import PushService
import StoreSQLite
import Transport

let appCreateCommand: Command = Command(
  name: "app create",
  summary: "Make an app, and print its key and secret once",
  discussion: """
    The secret is kept as a hash only: what is printed here cannot be printed again. The service may be running; it \
    knows the new app at once; give both the same --data.
    """,
  options: [
    .init(name: "bundle", value: "ID", help: "The app's bundle id, for example com.example.app"),
    .init(name: "name", value: "NAME", help: "What people call it"),
    ServeConfiguration.options.first { $0.name == "data" }!,
    .flag("json", "Print JSON"),
  ],
  run: { parsed in
    guard let bundle = parsed.value("bundle") else { throw UsageFault("'--bundle' is missing: the app's bundle id") }
    let folder = parsed.value("data") ?? standardDataFolder(processEnvironment())
    try Files.makeFolder(folder)
    let store: StoreSQLite
    do { store = try await StoreSQLite.openBeside(folder: folder) } catch {
      throw CommandFault(dataFolder: folder, error)
    }
    let clock = SystemClock()
    let service = PushService(
      store: store, bus: InProcessBus(clock: clock), clock: clock, seed: 0, senders: { _, _ in nil })
    let created: NewApp
    do throws(RequestFault) {
      created = try await service.createApp(bundleID: bundle, name: parsed.value("name"))
    } catch {
      await store.close()
      let option = error.place == "bundleID" ? "--bundle: " : error.place == "name" ? "--name: " : ""
      throw CommandFault("\(option)\(error.found). \(error.remedy)")
    }
    await store.close()
    if parsed.flag("json") {
      let object: JSONValue = [
        "appKey": .string(created.appKey), "masterSecret": .string(created.masterSecret),
      ]
      Terminal.print(object.text)
    } else {
      Terminal.print(
        """
        app key        \(created.appKey)
        master secret  \(created.masterSecret)    (shown only now)
        kept in        \(Files.absolute(folder))
        """)
    }
    return .success
  })
