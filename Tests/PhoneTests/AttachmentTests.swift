import Basics
import Phone
import PushPayload
import Testing

@Suite("Attachments")
struct AttachmentTests {
  struct Row: CustomTestStringConvertible, Sendable {
    var attachment: NotificationAttachment
    var flaw: NotificationAttachment.Flaw?
    var testDescription: String {
      "D-256 \(attachment.file), \(attachment.bytes) bytes: \(flaw?.rawValue ?? "taken")"
    }

    init(
      _ file: String, _ bytes: Int = 1_000, hint: String? = nil, readable: Bool = true,
      flaw: NotificationAttachment.Flaw? = nil
    ) {
      attachment = NotificationAttachment(file: file, bytes: bytes, typeHint: hint)
      attachment.isReadable = readable
      self.flaw = flaw
    }
  }

  static let good: [Row] =
    [
      "a.aiff", "a.wav", "a.mp3", "a.m4a", "a.jpeg", "a.jpg", "a.gif", "a.png", "a.mpeg", "a.m2v", "a.mp4", "a.avi",
      "A.PNG",
    ]
    .map { Row($0) }

  static let limits: [Row] = [
    Row("a.mp3", 5 << 20), Row("a.mp3", 5 << 20 | 1, flaw: .attachmentInvalidFileSize), Row("a.png", 10 << 20),
    Row("a.png", 10 << 20 | 1, flaw: .attachmentInvalidFileSize), Row("a.mp4", 50 << 20),
    Row("a.mp4", 50 << 20 | 1, flaw: .attachmentInvalidFileSize),
  ]

  static let odd: [Row] = [
    Row("a.webp", flaw: .attachmentUnrecognizedType), Row("a", flaw: .attachmentUnrecognizedType),
    Row("a.", flaw: .attachmentUnrecognizedType), Row("download.tmp", hint: "png"),
    Row("a.png", hint: "exe", flaw: .attachmentUnrecognizedType),
    Row("a.png", readable: false, flaw: .attachmentCorrupt),
    Row("a.png", 0, flaw: .attachmentCorrupt),
  ]

  @Test("D-256 types and sizes", arguments: Self.good + Self.limits + Self.odd)
  func types(_ row: Row) throws {
    #expect(row.attachment.flaw == row.flaw)
    // a bad one beside a remote notification: shown without it
    var story = Story(
      .g3, app: .complete { $0.serviceExtension = ServiceExtension(edits: [.body("B"), .attach(row.attachment)]) })
    story.push(ServiceExtensionTests.mutable)
    let shown = try #require(story.shown.first)
    #expect(shown.body == "B")
    #expect(shown.attachments == (row.flaw == nil ? [row.attachment.file] : []))
    #expect(story.rules.contains("D-256") == (row.flaw != nil))
  }

  @Test("D-256 the good ones stay when one is bad")
  func oneBad() {
    var story = Story(
      .g3,
      app: .complete {
        $0.serviceExtension = ServiceExtension(edits: [
          .attach(NotificationAttachment(file: "a.png")), .attach(NotificationAttachment(file: "a.txt")),
          .attach(NotificationAttachment(file: "b.mp3")),
        ])
      })
    story.push(ServiceExtensionTests.mutable)
    #expect(story.shown.first?.attachments == ["a.png", "b.mp3"])
    #expect(story.said("a.txt is left out: attachmentUnrecognizedType", "D-256"))
  }

  @Test("the codes of UNError")
  func codes() { #expect(NotificationAttachment.Flaw.allCases.map(\.code) == [101, 102, 105]) }
}
