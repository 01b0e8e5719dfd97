import Basics
import Dispatch
import Phone
import PushPayload

/// A phone without a terminal: commands come from standard input, one a line, and what happens on the phone is printed,
/// one line an entry. Commands are done in their order, each to its end before the next is read.
struct LineMode {
  var host: PhoneHost
  var json: Bool

  /// Success when the input ended, or was told to quit, and every command of it could be done.
  func run(until shutdown: AsyncStream<Void>, _ signals: ProcessSignals) async -> ExitStatus {
    let told = await host.follow(since: 0)
    let printing = Task { [json] in
      for await news in told.news {
        switch news {
        case .entry(let entry): Terminal.print(Self.text(entry, json: json))
        case .text(let text): Terminal.print(json ? JSONValue.object(["text": .string(text)]).text : text)
        }
      }
    }
    let status = await withTaskGroup(of: ExitStatus.self) { group in
      group.addTask { await obey(told.id) }
      group.addTask {
        await PhoneRun.wait(for: shutdown, signals)
        return .success
      }
      let first = await group.next() ?? .success
      group.cancelAll()
      return first
    }
    await host.unfollow(told.id)
    await printing.value
    return status
  }

  private func obey(_ listener: Int) async -> ExitStatus {
    var status = ExitStatus.success
    for await line in InputLines.read() {
      do {
        guard let act = try PhoneWord.act(of: line, on: await host.phone()) else { continue }
        let answer = try await host.perform(act)
        await host.say(answer.text, to: listener)
        if answer.ends { return status }
      } catch let fault as UsageFault {
        status = .failure
        Terminal.complain("belfry: \(fault.words)")
      } catch {
        status = .failure
        Terminal.complain("belfry: \(error)")
      }
    }
    return status
  }

  static func text(_ entry: TimelineEntry, json: Bool) -> String {
    json ? entry.json.text : TextWidth.harmless(entry.description)
  }
}

/// The lines of standard input, read on a thread of its own; ends with the input.
enum InputLines {
  static func read() -> AsyncStream<String> {
    let (lines, sink) = AsyncStream<String>.makeStream()
    DispatchQueue(label: "belfry.phone.input").async {
      while let line = readLine(strippingNewline: true) { sink.yield(line) }
      sink.finish()
    }
    return lines
  }
}
