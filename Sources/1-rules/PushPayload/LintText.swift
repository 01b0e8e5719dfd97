/// A JSON text that is read once, to be judged by its grammar first and by lint later.
public struct LintText: Sendable {
  private let reading: Result<JSONTape, JSONFault>

  public init(_ bytes: [UInt8]) {
    reading = Result { () throws(JSONFault) in try JSONTape(reading: bytes, limits: JSONReader.Limits()) }
  }

  /// Why it is no JSON.
  public var fault: JSONFault? { if case .failure(let fault) = reading { fault } else { nil } }

  /// False also for what is no JSON.
  public var isObject: Bool {
    if case .success(let tape) = reading { tape.nodes.first?.kind == .object } else { false }
  }

  /// The same as `Lint.check` of the text, which is taken for JSON whatever the context says.
  public func findings(_ context: LintContext) -> [Finding] {
    var context = context
    context.form = .json
    return switch reading {
    case .success(let tape): LintRun.check(tape, context)
    case .failure(let fault): LintRun.check(fault, context)
    }
  }
}
