import PhoneLab
import PushPayload

/// What `--update` writes into a scenario's file.
struct ScenarioUpdate {
  private var edits: [(path: JSONPath, value: JSONValue)] = []
  /// Places that no value can mend: phones that differ, refusals.
  private var impossible: [JSONPath] = []

  struct Outcome {
    var written: [JSONPath]
    var impossible: [JSONPath]
    /// Their comments are gone.
    var lost: [JSONPath]

    var isComplete: Bool { impossible.isEmpty }

    var words: String {
      func list(_ paths: [JSONPath]) -> String { paths.map(\.description).joined(separator: ", ") }
      var words = ["\(written.count) rewritten\(written.isEmpty ? "" : ": \(list(written))")"]
      if !lost.isEmpty { words.append("comments lost in \(list(lost))") }
      if !impossible.isEmpty { words.append("to be mended by hand: \(list(impossible))") }
      return words.joined(separator: "; ")
    }
  }

  init(_ result: ScenarioResult) {
    for failure in result.failures {
      guard let value = failure.update else {
        impossible.append(failure.path)
        continue
      }
      if let former = edits.first(where: { $0.path == failure.path }) {
        if former.value != value { impossible.append(failure.path) }  // phones differ
        continue
      }
      edits.append((failure.path, value))
    }
    edits.removeAll { edit in impossible.contains(edit.path) }
  }

  /// Replaces as little of the file as can be: of a list of the same length, the elements that differ.
  func apply(to file: String) throws -> Outcome {
    let former = try JSON5File.read(file, kind: "a scenario")
    let edits = edits.flatMap { Self.leastEdits($0.path, from: former[$0.path], to: $0.value) }
    var text = JSON5Text(try Files.read(file))
    let (missing, lost) = text.replace(edits)
    if edits.count > missing.count { try Files.write(String(decoding: text.bytes, as: UTF8.self), to: file) }
    let written = edits.map(\.path).filter { !missing.contains($0) }
    return Outcome(written: written, impossible: impossible + missing, lost: lost)
  }

  private static func leastEdits(
    _ path: JSONPath, from former: JSONValue?, to value: JSONValue
  ) -> [(path: JSONPath, value: JSONValue)] {
    switch (former, value) {
    case (.array(let old), .array(let new)) where old.count == new.count && !new.isEmpty:
      return new.indices.flatMap { leastEdits(path.appending($0), from: old[$0], to: new[$0]) }
    case (.object(let old), .object(let new)) where old.members.map(\.key) == new.members.map(\.key):
      return new.members.flatMap { leastEdits(path.appending($0.key), from: old[$0.key], to: $0.value) }
    default: return former == value ? [] : [(path, value)]
    }
  }
}
