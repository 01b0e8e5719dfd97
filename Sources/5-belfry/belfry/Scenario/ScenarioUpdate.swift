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

  func apply(to file: String) throws -> Outcome {
    var text = JSON5Text(try Files.read(file))
    let (missing, lost) = text.replace(edits)
    if edits.count > missing.count { try Files.write(String(decoding: text.bytes, as: UTF8.self), to: file) }
    let written = edits.map(\.path).filter { !missing.contains($0) }
    return Outcome(written: written, impossible: impossible + missing, lost: lost)
  }
}
