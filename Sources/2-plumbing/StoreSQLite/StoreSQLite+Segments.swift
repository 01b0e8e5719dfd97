public import Store

extension StoreSQLite {
  public func segments(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredSegment] {
    try await reader.run { database throws(StoreFault) in
      try SegmentTable(database).segments(app: app, after: after, limit: limit)
    }
  }

  public func segment(app: Int64, id: String) async throws(StoreFault) -> StoredSegment? {
    try await reader.run { database throws(StoreFault) in try SegmentTable(database).segment(app: app, id: id) }
  }

  public func keepSegment(
    app: Int64, _ segment: StoredSegment, ifVersion: Int64?
  ) async throws(StoreFault) -> StoredSegment? {
    try await writer.run { database throws(StoreFault) in
      try SegmentTable(database).keep(app: app, segment, ifVersion: ifVersion)
    }
  }

  public func deleteSegment(app: Int64, id: String) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in try SegmentTable(database).delete(app: app, id: id) }
  }

  public func tests(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredABTest] {
    try await reader.run { database throws(StoreFault) in
      try SegmentTable(database).tests(app: app, after: after, limit: limit)
    }
  }

  public func test(app: Int64, id: String) async throws(StoreFault) -> StoredABTest? {
    try await reader.run { database throws(StoreFault) in try SegmentTable(database).test(app: app, id: id) }
  }

  public func keepTest(app: Int64, _ test: StoredABTest) async throws(StoreFault) -> StoredABTest? {
    try await writer.run { database throws(StoreFault) in try SegmentTable(database).keep(app: app, test) }
  }

  public func deleteTest(app: Int64, id: String) async throws(StoreFault) -> Bool {
    try await writer.run { database throws(StoreFault) in try SegmentTable(database).deleteTest(app: app, id: id) }
  }

  public func pushes(app: Int64, ofTest id: String, limit: Int) async throws(StoreFault) -> [VariantPush] {
    try await reader.run { database throws(StoreFault) in
      try SegmentTable(database).pushes(app: app, ofTest: id, limit: limit)
    }
  }
}
