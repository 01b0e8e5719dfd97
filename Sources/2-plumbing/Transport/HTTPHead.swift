extension [UInt8] {
  /// Behind the empty line that ends a head of HTTP/1.1, where it begins at `start` or later; nil while it has not come.
  func indexAfterHead(from start: Int) -> Int? {
    guard start <= count - 4 else { return nil }
    for index in start...(count - 4)
    where self[index] == 13 && self[index + 1] == 10 && self[index + 2] == 13 && self[index + 3] == 10 {
      return index + 4
    }
    return nil
  }
}
