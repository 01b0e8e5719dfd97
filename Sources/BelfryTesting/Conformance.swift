/// One promise of a contract, checked against whatever engine is given. An engine's own test runs all of them:
/// `@Test(arguments: StoreConformance.cases) func keepsItsPromises(promise: …) async throws { try await promise.check(engine) }`.
public struct ConformanceCase<Subject: Sendable>: Sendable, CustomStringConvertible {
  public var description: String
  public var check: @Sendable (Subject) async throws -> Void

  public init(_ description: String, check: @escaping @Sendable (Subject) async throws -> Void) {
    self.description = description
    self.check = check
  }
}

/// A promise that was not kept.
public struct ConformanceFailure: Error, CustomStringConvertible {
  public var description: String
}

/// Throws unless both are equal.
func expect<Value: Equatable>(
  _ found: Value, is wanted: Value, _ what: String = "", file: String = #fileID, line: Int = #line
) throws {
  guard found != wanted else { return }
  throw ConformanceFailure(description: "\(file):\(line): \(what) found \(found), wanted \(wanted)")
}

func require<Value>(
  _ found: Value?, _ what: String = "a value", file: String = #fileID, line: Int = #line
) throws -> Value {
  guard let found else { throw ConformanceFailure(description: "\(file):\(line): no \(what)") }
  return found
}
