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
    app: Int64, _ segment: StoredSegment, ifVersion: Int64?, audit: AuditNote
  ) async throws(StoreFault) -> StoredSegment? {
    try await writer.run { database throws(StoreFault) in
      let kept = try SegmentTable(database).keep(app: app, segment, ifVersion: ifVersion)
      if kept != nil { try AuditTable(database).write(audit) }
      return kept
    }
  }

  public func deleteSegment(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try SegmentTable(database).delete(app: app, id: id)
    }
  }

  public func tests(app: Int64, after: String?, limit: Int) async throws(StoreFault) -> [StoredABTest] {
    try await reader.run { database throws(StoreFault) in
      try SegmentTable(database).tests(app: app, after: after, limit: limit)
    }
  }

  public func test(app: Int64, id: String) async throws(StoreFault) -> StoredABTest? {
    try await reader.run { database throws(StoreFault) in try SegmentTable(database).test(app: app, id: id) }
  }

  public func keepTest(app: Int64, _ test: StoredABTest, audit: AuditNote) async throws(StoreFault) -> StoredABTest? {
    try await writer.run { database throws(StoreFault) in
      let known = try SegmentTable(database).keep(app: app, test)
      if known == nil { try AuditTable(database).write(audit) }
      return known
    }
  }

  public func deleteTest(app: Int64, id: String, audit: AuditNote) async throws(StoreFault) -> Bool {
    try await writing(audit) { database throws(StoreFault) in
      try SegmentTable(database).deleteTest(app: app, id: id)
    }
  }

  public func pushes(app: Int64, ofTest id: String, limit: Int) async throws(StoreFault) -> [VariantPush] {
    try await reader.run { database throws(StoreFault) in
      try SegmentTable(database).pushes(app: app, ofTest: id, limit: limit)
    }
  }
}
