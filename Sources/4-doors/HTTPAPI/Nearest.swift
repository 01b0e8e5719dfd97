/// The member of `words` that `word` was probably meant to be, if any.
struct Nearest {
  var word: String?
  var hint: String? { word.map { "Did you mean \($0)?" } }
}

/// Compares without case and with `-` and `_` taken for the same; up to a third of the letters, three at most, may be
/// wrong, missing, too many or swapped with their neighbour.
func nearest(to word: String, among words: [String]) -> Nearest {
  let folded = fold(word)
  guard folded.count <= 64 else { return Nearest(word: nil) }
  let allowed = min(3, max(1, folded.count / 3))
  let closest = words.map { (word: $0, distance: editDistance(fold($0), folded)) }.min { $0.distance < $1.distance }
  guard let closest, closest.distance <= allowed else { return Nearest(word: nil) }
  return Nearest(word: closest.word)
}

private func fold(_ word: String) -> [UInt8] {
  word.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
}

/// Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours, each once.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var before = [Int](repeating: 0, count: right.count + 1)
  var last = Array(0...right.count)
  for row in left.indices {
    var current = [row + 1]
    for column in right.indices {
      var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (left[row] == right[column] ? 0 : 1))
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, before[column - 1] + 1)
      }
      current.append(best)
    }
    before = last
    last = current
  }
  return last[right.count]
}
