/// The candidate that `word` was probably meant for: equal but for case, `_` and `-`; or one or two letters away.
public func nearest(to word: String, in candidates: [String]) -> String? {
  func plain(_ text: String) -> [UInt8] {
    text.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: " ") }
  }
  let wanted = plain(word)
  guard wanted.count <= 40 else { return nil }
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(wanted, plain(candidate))
    let allowed = min(2, (candidate.utf8.count - 1) / 3)
    if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.candidate
}

/// Letters put in, left out, changed, or swapped with their neighbour (optimal string alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  if left == right { return 0 }
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for row in left.indices {
    var current = [row + 1]
    for column in right.indices {
      var least = min(
        last[column + 1] + 1, current[column] + 1, last[column] + (left[row] == right[column] ? 0 : 1))
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        least = min(least, beforeLast[column - 1] + 1)
      }
      current.append(least)
    }
    (beforeLast, last) = (last, current)
  }
  return last[right.count]
}
