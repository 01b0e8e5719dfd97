/// Every command, in the order of `belfry help`. Each lives in a file of its own, `<Name>Command.swift`.
let allCommands: [Command] =
  [
    serveCommand,
    appCreateCommand,
    appsSecretCommand,
  ] + credentialsCommands + groupCommands + [
    explainCommand,
    developerCreateCommand,
    devicesImportCommand,
    devicesExportCommand,
    auditListCommand,
    sealingRotateCommand,
    backupCommand,
    restoreCommand,
  ] + directoryCommands + [
    lintCommand,
    pushCommand,
  ] + channelsCommands + [
    apnsCommand,
    phoneCommand,
  ] + phoneVerbs + [
    scenarioCommand,
    configCommand,
    doctorCommand,
    completionCommand,
  ]

let completionCommand: Command = Command(
  name: "completion",
  summary: "Print the completion script of a shell",
  discussion: """
    bash: source <(belfry completion bash)
    zsh: belfry completion zsh > "${fpath[1]}/_belfry"
    fish: belfry completion fish > ~/.config/fish/completions/belfry.fish
    """,
  arguments: [
    .init(name: "SHELL", help: "bash, zsh or fish", completion: .words(["bash", "zsh", "fish"]))
  ],
  run: { parsed in
    guard let shell = CompletionWriter.Shell(rawValue: parsed.arguments[0]) else {
      throw UsageFault("'\(parsed.arguments[0])' is no shell that completion is written for: bash, zsh or fish")
    }
    Terminal.print(CompletionWriter(commands: allCommands).script(for: shell))
    return .success
  })
