public import Basics
import CCurl
import CCurlShims
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Calls other servers over HTTP/1.1 (libcurl), one call at a time in the order asked for, over a connection that is
/// kept. Blocking work is done on a thread of its own; any task may call.
public final class HTTPClient: Sendable {
  /// Where calls may go.
  public enum Reach: Sendable {
    case anywhere
    /// To addresses of the public internet and those of `others`. Each address that a name stands for is judged when the
    /// connection to it is made, so that a name that is looked up again leads nowhere else; proxies of the environment are
    /// not used.
    case publicInternet(besides: [AddressRange])
  }

  private let line: CallLine

  /// Of an answer's body no more than `bodyLimit` bytes are read. `names` is asked before each call what stands before the
  /// machine's own look-up, as `example.com:80:192.0.2.1,192.0.2.2`.
  public init(
    _ reach: Reach = .anywhere, bodyLimit: Int = .max, names: @escaping @Sendable () -> [String] = { [] }
  ) {
    line = CallLine(reach, bodyLimit: bodyLimit, names: names)
  }

  /// A server's answer, whatever its status.
  public struct Answer: Sendable, Equatable {
    public var status: Int
    /// Names in lower case.
    public var headers: [String: String]
    public var body: [UInt8]
    /// The body goes on beyond the limit; the rest was not read.
    public var isCut = false
  }

  /// No answer came. `what` is libcurl's sentence; it holds no body and no header.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    public var url: String
    public var what: String
    public var description: String { "\(url): \(what)" }
  }

  /// Sends one request and returns its answer. `timeout` bounds the whole call. Redirects are not followed, proxies of
  /// the environment are not used for loopback addresses. `basic` is user and password (RFC 7617). Cancelled, it faults
  /// within about a second; whether the request arrived is not known then.
  public func call(
    _ method: String, _ url: String, headers: [String: String] = [:], basic: (user: String, password: String)? = nil,
    body: [UInt8]? = nil, timeout: Instant.Span = .seconds(30)
  ) async throws(Fault) -> Answer {
    let request = CallLine.Request(
      method: method, url: url, headers: headers.map { "\($0.key): \($0.value)" }.sorted(),
      credentials: basic.map { "\($0.user):\($0.password)" }, body: body, timeout: timeout.milliseconds)
    let isCancelled = Locked(false)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        line.queue.async { [line] in continuation.resume(returning: line.perform(request, isCancelled)) }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
    return try result.get()
  }
}

/// One handle of libcurl and the queue on which alone it is touched.
private final class CallLine: @unchecked Sendable {  // guarded by `queue`
  struct Request: Sendable {
    var method: String
    var url: String
    var headers: [String]
    var credentials: String?
    var body: [UInt8]?
    var timeout: Int64
  }

  private final class Collector {
    var body: [UInt8] = []
    var headers: [String: String] = [:]
    var isCut = false
    let bodyLimit: Int
    /// As `Reach` has it; nil: all are.
    let allowed: (@Sendable (IPAddress) -> Bool)?
    var isRefused = false
    let isCancelled: Locked<Bool>

    init(bodyLimit: Int, allowed: (@Sendable (IPAddress) -> Bool)?, _ isCancelled: Locked<Bool>) {
      self.bodyLimit = bodyLimit
      self.allowed = allowed
      self.isCancelled = isCancelled
    }
  }

  let queue = DispatchQueue(label: "belfry.http-client")
  private let handle: OpaquePointer?
  private let reach: HTTPClient.Reach
  private let bodyLimit: Int
  private let names: @Sendable () -> [String]

  init(_ reach: HTTPClient.Reach, bodyLimit: Int, names: @escaping @Sendable () -> [String]) {
    self.reach = reach
    self.bodyLimit = bodyLimit
    self.names = names
    _ = Self.library
    handle = curl_easy_init().map { OpaquePointer($0) }
  }

  deinit { if let handle { curl_easy_cleanup(UnsafeMutableRawPointer(handle)) } }

  /// Once a process, before any handle (libcurl's own rule).
  private static let library: Void = { curl_global_init(Int(CURL_GLOBAL_ALL)) }()

  func perform(_ request: Request, _ isCancelled: Locked<Bool>) -> Result<HTTPClient.Answer, HTTPClient.Fault> {
    if isCancelled.withLock({ $0 }) { return .failure(.init(url: request.url, what: "it was broken off")) }
    guard let handle = handle.map({ UnsafeMutableRawPointer($0) }) else {
      return .failure(.init(url: request.url, what: "libcurl has no memory for a handle"))
    }
    curl_easy_reset(handle)
    var list: UnsafeMutablePointer<curl_slist>?
    defer { curl_slist_free_all(list) }
    // No `Expect: 100-continue`: it costs a round trip and not every server knows it.
    for header in request.headers + ["Expect:"] { list = curl_slist_append(list, header) }
    var resolved: UnsafeMutablePointer<curl_slist>?
    defer { curl_slist_free_all(resolved) }
    for name in names() {
      // what was said of it before goes first
      resolved = curl_slist_append(resolved, "-" + name.split(separator: ":").prefix(2).joined(separator: ":"))
      resolved = curl_slist_append(resolved, name)
    }
    let collector = Collector(bodyLimit: bodyLimit, allowed: allowed, isCancelled)
    let context = Unmanaged.passUnretained(collector).toOpaque()
    set(handle, CURLOPT_URL, request.url)
    set(handle, CURLOPT_CUSTOMREQUEST, request.method)
    if request.method == "HEAD" { _ = belfry_curl_set_long(handle, CURLOPT_NOBODY, 1) }
    if let credentials = request.credentials { set(handle, CURLOPT_USERPWD, credentials) }
    _ = belfry_curl_set_pointer(handle, CURLOPT_HTTPHEADER, list)
    if resolved != nil { _ = belfry_curl_set_pointer(handle, CURLOPT_RESOLVE, resolved) }
    _ = belfry_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(request.timeout))
    _ = belfry_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    set(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    if allowed != nil {
      set(handle, CURLOPT_NOPROXY, "*")
      judgeAddresses(handle, context)
    } else {
      set(handle, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1")
    }
    _ = belfry_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
    _ = belfry_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
    _ = belfry_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
      let room = min(size * count, collector.bodyLimit - collector.body.count)
      collector.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: room))
      collector.isCut = room < size * count
      return room  // libcurl ends the call when it is less than was given
    }
    _ = belfry_curl_set_sink(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
      let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
      if let colon = line.firstIndex(of: ":") {
        let value = line[line.index(after: colon)...].drop { $0 == " " }.prefix { !$0.isNewline }
        collector.headers[line[..<colon].lowercased()] = String(value)
      }
      return size * count
    }
    _ = belfry_curl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
    _ = belfry_curl_set_watch(handle) { context, _, _, _, _ in
      guard let context else { return 0 }
      return Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue().isCancelled.withLock { $0 } ? 1 : 0
    }
    let code = withExtendedLifetime(collector) {
      guard let body = request.body else { return curl_easy_perform(handle) }
      return body.withUnsafeBytes { bytes in
        // libcurl reads the body in place; the buffer outlives the call.
        _ = belfry_curl_set_pointer(handle, CURLOPT_POSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(handle))
        _ = belfry_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, bytes.count)
        return curl_easy_perform(handle)
      }
    }
    if code != CURLE_OK, collector.isRefused {
      // The address stays untold: it would give away what names of the inner network stand for.
      return .failure(.init(url: request.url, what: "its address is not of the public internet, and so not called"))
    }
    if code == CURLE_ABORTED_BY_CALLBACK { return .failure(.init(url: request.url, what: "it was broken off")) }
    guard code == CURLE_OK || collector.isCut else {
      return .failure(.init(url: request.url, what: String(cString: curl_easy_strerror(code))))
    }
    return .success(
      .init(
        status: belfry_curl_status(handle), headers: collector.headers, body: collector.body, isCut: collector.isCut))
  }

  private var allowed: (@Sendable (IPAddress) -> Bool)? {
    switch reach {
    case .anywhere: nil
    case .publicInternet(let others): { address in address.isPublic || others.contains { $0.contains(address) } }
    }
  }

  /// Has libcurl ask before each connection, also those that a name looked up anew leads to.
  private func judgeAddresses(_ handle: UnsafeMutableRawPointer, _ context: UnsafeMutableRawPointer) {
    _ = belfry_curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
    _ = belfry_curl_set_opener(handle) { context, _, address in
      guard let context else { return -1 }  // CURL_SOCKET_BAD
      let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
      // libcurl's struct ends in a `sockaddr` that has room for every family; 4 and 8 are where `sockaddr_in` and
      // `sockaddr_in6` have the address.
      let start = UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
      let bytes: UnsafeRawBufferPointer? =
        switch address.pointee.family {
        case AF_INET: UnsafeRawBufferPointer(start: start + 4, count: 4)
        case AF_INET6: UnsafeRawBufferPointer(start: start + 8, count: 16)
        default: nil
        }
      guard let bytes, let destination = IPAddress(bytes: bytes) else { return -1 }
      guard collector.allowed?(destination) ?? true else {
        collector.isRefused = true
        return -1
      }
      return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    }
  }

  private func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, _ text: String) {
    // libcurl copies strings (since 7.17).
    text.withCString { _ = belfry_curl_set_pointer(handle, option, $0) }
  }
}
