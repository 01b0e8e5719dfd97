struct LintRun {
  private(set) var findings: [Finding] = []
  init(_ bytes: [UInt8], _ context: LintContext) {}
}
