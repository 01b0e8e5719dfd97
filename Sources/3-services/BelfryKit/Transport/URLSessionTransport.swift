public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// The network by `URLSession`: Apple's proxies, certificates and Wi-Fi rules hold.
public final class URLSessionTransport: BelfryTransport {
  private let session: URLSession

  /// - Parameter configuration: its cookies, caches and credentials are not used.
  public init(_ configuration: URLSessionConfiguration = .ephemeral) {
    configuration.timeoutIntervalForRequest = 30
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    session = URLSession(configuration: configuration, delegate: SessionDelegate(), delegateQueue: nil)
  }

  deinit { session.finishTasksAndInvalidate() }

  public func call(_ request: ServiceRequest) async throws -> ServiceAnswer {
    var asked = URLRequest(url: request.url)
    asked.httpMethod = request.method
    asked.httpBody = request.body
    asked.setValue("application/json", forHTTPHeaderField: "Content-Type")
    if let authorization = request.authorization { asked.setValue(authorization, forHTTPHeaderField: "Authorization") }
    let (body, answer) = try await session.data(for: asked)
    guard let answer = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return ServiceAnswer(status: answer.statusCode, body: body)
  }

  public func open(_ url: URL) async throws -> any MessageSocket {
    let task = session.webSocketTask(with: url)
    task.maximumMessageSize = 4 << 20
    try await SessionDelegate.of(session).opened(task)
    return URLSessionSocket(task: task)
  }

  public func download(_ url: URL, to destination: URL, limit: Int) async throws {
    try await SessionDelegate.of(session).downloaded(
      session.downloadTask(with: url), to: destination, limit: limit)
  }
}

private struct URLSessionSocket: MessageSocket {
  let task: URLSessionWebSocketTask

  func send(_ text: String) async throws { try await task.send(.string(text)) }

  func receive() async -> SocketNews {
    do {
      while true {
        if case .string(let text) = try await task.receive() { return .text(text) }
      }
    } catch {
      let code = task.closeCode.rawValue
      return .closed(code: code > 0 ? UInt16(exactly: code) : nil)
    }
  }

  func close() async { task.cancel(with: .normalClosure, reason: nil) }

  func abandon() { task.cancel() }
}

/// Tells those who wait for a task. Everything of a task is said on the session's own queue.
private final class SessionDelegate: NSObject, URLSessionWebSocketDelegate, URLSessionDownloadDelegate,
  @unchecked Sendable  // guarded by `lock`
{
  private struct Download {
    var destination: URL
    var limit: Int
    var fault: (any Error)?
  }

  private let lock = NSLock()
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var downloads: [Int: Download] = [:]

  static func of(_ session: URLSession) -> SessionDelegate {
    guard let delegate = session.delegate as? SessionDelegate else { preconditionFailure("the session is ours") }
    return delegate
  }

  func opened(_ task: URLSessionWebSocketTask) async throws { try await begun(task, nil) }

  func downloaded(_ task: URLSessionDownloadTask, to destination: URL, limit: Int) async throws {
    try await begun(task, Download(destination: destination, limit: limit))
  }

  private func begun(_ task: URLSessionTask, _ download: Download?) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { done in
        lock.withLock {
          waiting[task.taskIdentifier] = done
          downloads[task.taskIdentifier] = download
        }
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  private func end(_ task: URLSessionTask, _ error: (any Error)?) {
    let (done, download) = lock.withLock {
      (waiting.removeValue(forKey: task.taskIdentifier), downloads.removeValue(forKey: task.taskIdentifier))
    }
    if let fault = download?.fault ?? error { done?.resume(throwing: fault) } else { done?.resume() }
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) { end(webSocketTask, nil) }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) { end(webSocketTask, URLError(.networkConnectionLost)) }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    end(task, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // credentials go nowhere else; files of a push may
    completionHandler(task is URLSessionDownloadTask && request.url?.scheme == "https" ? request : nil)
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    lock.withLock {
      guard let limit = downloads[downloadTask.taskIdentifier]?.limit,
        max(totalBytesWritten, totalBytesExpectedToWrite) > Int64(limit)
      else { return }
      downloads[downloadTask.taskIdentifier]?.fault = URLError(.dataLengthExceedsMaximum)
    }
    if lock.withLock({ downloads[downloadTask.taskIdentifier]?.fault }) != nil { downloadTask.cancel() }
  }

  /// The file is gone when this returns.
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    guard let download = lock.withLock({ downloads[downloadTask.taskIdentifier] }), download.fault == nil else {
      return
    }
    do {
      guard (downloadTask.response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
      // what came at once was never told of on its way
      let size = try FileManager.default.attributesOfItem(atPath: location.path)[.size] as? NSNumber
      guard let size, size.intValue <= download.limit else { throw URLError(.dataLengthExceedsMaximum) }
      try FileManager.default.moveItem(at: location, to: download.destination)
    } catch {
      lock.withLock { downloads[downloadTask.taskIdentifier]?.fault = error }
    }
  }
}
