/// A media file that an app or its service extension puts beside a notification's text: a `UNNotificationAttachment`
/// (D-256).
public struct NotificationAttachment: Hashable, Sendable {
  public var id: String
  /// The file's name; its extension says the type.
  public var file: String
  public var bytes: Int
  /// `UNNotificationAttachmentOptionsTypeHintKey`, as a file extension (`png`): counts in place of the file's own.
  public var typeHint: String?
  /// The file is of its type and whole.
  public var isReadable = true
  /// `UNNotificationAttachmentOptionsThumbnailHiddenKey`.
  public var hidesThumbnail = false

  public init(id: String = "", file: String, bytes: Int = 1_000, typeHint: String? = nil) {
    self.id = id
    self.file = file
    self.bytes = bytes
    self.typeHint = typeHint
  }

  public enum Kind: String, CaseIterable, Sendable {
    case audio, image, movie

    /// Bytes; megabytes are taken as 1,048,576 (Apple, `UNNotificationAttachment`, says only "MB").
    public var mostBytes: Int {
      switch self {
      case .audio: 5 << 20
      case .image: 10 << 20
      case .movie: 50 << 20
      }
    }

    init?(fileExtension: String) {
      switch fileExtension.lowercased() {
      case "aiff", "aif", "wav", "mp3", "m4a": self = .audio
      case "jpg", "jpeg", "gif", "png": self = .image
      case "mpg", "mpeg", "m2v", "mp4", "avi": self = .movie
      default: return nil
      }
    }
  }

  /// nil: no type that the system shows.
  public var kind: Kind? {
    if let typeHint { return Kind(fileExtension: typeHint) }
    guard let dot = file.lastIndex(of: ".") else { return nil }
    return Kind(fileExtension: String(file[file.index(after: dot)...]))
  }

  /// Why the system does not take it: a code of `UNError`.
  public enum Flaw: String, CaseIterable, Sendable {
    case attachmentUnrecognizedType, attachmentInvalidFileSize, attachmentCorrupt

    /// As the completion handler of a request gets it.
    public var error: NotificationError {
      switch self {
      case .attachmentUnrecognizedType: .attachmentUnrecognizedType
      case .attachmentInvalidFileSize: .attachmentInvalidFileSize
      case .attachmentCorrupt: .attachmentCorrupt
      }
    }

    /// `UNErrorCode`.
    public var code: Int { error.rawValue }
  }

  /// nil: the system takes it into its store and shows it.
  public var flaw: Flaw? {
    guard let kind else { return .attachmentUnrecognizedType }
    guard bytes <= kind.mostBytes else { return .attachmentInvalidFileSize }
    return isReadable && bytes > 0 ? nil : .attachmentCorrupt
  }
}
