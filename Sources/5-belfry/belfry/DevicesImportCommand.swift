import PushService
import Store
import StoreSQLite

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

let devicesImportCommand = Command(
  name: "devices import",
  summary: "Take devices from a CSV or JSON Lines file",
  discussion: """
    Each line is a device: a CSV file's first line names the columns, a JSON Lines file has an object a line. Columns \
    are \(DeviceFile.Column.allCases.map(\.rawValue).joined(separator: ", ")); only token must be there. Tags and channels stand \
    with a space between them in CSV.
    What is no device is told with its line and is left out. A device that is there already stays as it is, so a file \
    may be taken twice; an import that was broken off goes on where it was. The service may be running.
    Exit status: 0 when every line was taken, 1 when some were not.
    """,
  arguments: [.init(name: "FILE", help: "A .csv or .jsonl file")],
  options: [
    FolderService.appOption, formatOption, ServiceBeside.dataOption,
  ],
  run: { parsed in
    let path = parsed.arguments[0]
    let format = try deviceFormat(parsed, path)
    return try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      try await opened.store.useCache(mebibytes: 256)
      return try await importDevices(from: path, format, into: app, opened.service)
    }
  })

private let formatOption = Command.Option(
  name: "format", value: "FORMAT", help: "csv or jsonl; default by the file's name",
  completion: .words(DeviceFile.allCases.map(\.rawValue)))

func deviceFormat(_ parsed: ParsedCommand, _ path: String?) throws(UsageFault) -> DeviceFile {
  if let word = parsed.value("format") {
    guard let format = DeviceFile(rawValue: word) else {
      throw UsageFault("--format takes csv or jsonl, not '\(word)'")
    }
    return format
  }
  if let path, let format = DeviceFile.allCases.first(where: { path.hasSuffix(".\($0.rawValue)") }) { return format }
  guard path == nil else { throw UsageFault("'--format' is missing: csv or jsonl, since the file's name does not say") }
  return .csv
}

/// Lines that are kept together: a second's work, so that a service beside gets its turn.
private let batchLines = 32_768

private func importDevices(
  from path: String, _ format: DeviceFile, into app: AppRecord, _ service: PushService
) async throws -> ExitStatus {
  var file = try LineFile(path)
  var columns: [DeviceFile.Column] = []
  var lineNumber: Int64 = 0
  if format == .csv {
    let line = try file.next() ?? []
    lineNumber = 1
    do throws(DeviceLineFault) { columns = try DeviceFile.columns(ofHeader: headerText(line)) } catch {
      throw CommandFault("\(path):1: \(error)")
    }
  }
  // written to or replaced, it is another source, and begun anew
  let source = "\(Files.stamp(path) ?? "") \(format.rawValue)"
  if let mark = try await service.importMark(app, source: source) {
    file.seek(to: mark.position)
    lineNumber = mark.lines
    Terminal.complain("going on after line \(lineNumber), where an import of this file was broken off")
  }
  var (kept, known, faults) = (0, 0, 0)
  var bar = ProgressBar("import")
  bar.show(file.position, of: file.size, "0 devices")
  while true {
    var lines: [(number: Int64, bytes: ArraySlice<UInt8>)] = []
    while lines.count < batchLines, let line = try file.next() {
      lineNumber += 1
      lines.append((lineNumber, line))
    }
    if lines.isEmpty { break }
    let batch = try await service.importDevices(
      app, lines, of: format, columns: columns,
      mark: ImportMark(source: source, position: file.position, lines: lineNumber))
    kept += batch.kept
    known += batch.known
    faults += batch.faults.count
    if !batch.faults.isEmpty {
      bar.end()
      for fault in batch.faults { Terminal.complain("\(path):\(fault.line): \(fault.words)") }
    }
    bar.show(file.position, of: file.size, "\(kept) devices")
  }
  bar.end()
  let words = "\(kept) new, \(known) there before, \(faults) lines not taken"
  let name = Files.name(of: path)
  try await service.finishImport(app, source: source, name: name, words: words)
  Terminal.print(words)
  return faults == 0 ? .success : .failure
}

/// Without the byte order mark that spreadsheets put in front.
private func headerText(_ line: ArraySlice<UInt8>) -> String {
  var bytes = line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line
  if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
  return String(decoding: bytes, as: UTF8.self)
}

let devicesExportCommand = Command(
  name: "devices export",
  summary: "Write an app's devices as CSV or JSON Lines, as 'devices import' reads them",
  discussion: """
    Devices whose token died are left out, and counted on standard error. Device tokens let whoever has the app's key \
    push to these devices: keep the file as you keep that. The service may be running.
    """,
  arguments: [
    .init(name: "FILE", help: "A .csv or .jsonl file that is not there yet; default standard output", optional: true)
  ],
  options: [FolderService.appOption, formatOption, ServiceBeside.dataOption],
  run: { parsed in
    let path = parsed.arguments.first
    let format = try deviceFormat(parsed, path)
    return try await FolderService.with(parsed) { opened in
      let app = try await opened.app(parsed)
      var output: Int32 = 1
      if let path {
        output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else {
          throw CommandFault(
            errno == EEXIST
              ? "\(path): is there already, and is not written over"
              : "\(path): cannot be written; is its folder there?")
        }
      }
      defer { if path != nil { close(output) } }
      let counts = try await export(app, format, opened.service, to: output)
      guard let counts else { throw CommandFault("\(path ?? "standard output"): not everything could be written") }
      Terminal.complain("\(counts.written) devices; \(counts.dead) with a dead token left out")
      return .success
    }
  })

/// nil when something could not be written.
private func export(
  _ app: AppRecord, _ format: DeviceFile, _ service: PushService, to output: Int32
) async throws -> (written: Int, dead: Int)? {
  var counts = (written: 0, dead: 0)
  if let header = format.header, !Terminal.write(header + "\n", to: output) { return nil }
  var after: UInt32?
  repeat {
    let page = try await service.exportDevices(app, as: format, after: after)
    if !page.lines.isEmpty, !Terminal.write(page.lines.joined(separator: "\n") + "\n", to: output) { return nil }
    counts.written += page.lines.count
    counts.dead += page.dead
    after = page.next
  } while after != nil
  return counts
}
