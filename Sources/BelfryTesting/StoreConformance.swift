public import Store

/// What every engine of `Store` must do. Each case wants a store that is empty.
public enum StoreConformance {
  public static let cases: [ConformanceCase<any Store>] =
    StoreAppCases.all + StoreDeviceCases.all + StoreAudienceCases.all + StorePushCases.all + StoreShardCases.all
    + StoreTokenCases.all + StorePreferenceCases.all + StoreTagCases.all + StoreFactCases.all + StoreMessageCases.all
    + StoreScheduleCases.all + StoreReportCases.all + StoreControlCases.all
    + StoreSegmentCases.all + StoreUsageCases.all + StoreAccountCases.all
    + StoreTraceCases.all + StoreFileCases.all + StoreImportCases.all + StoreForgettingCases.all
    + StoreCredentialCases.all + StoreSpecialTokenCases.all
    + StoreWebhookCases.all + StoreWebhookEndCases.all + StoreAuditCases.all + StoreSealingCases.all
}

func fault<Result>(
  of body: () async throws(StoreFault) -> Result, file: String = #fileID, line: Int = #line
) async throws -> StoreFault {
  let result: Result
  do throws(StoreFault) {
    result = try await body()
  } catch {
    return error
  }
  throw ConformanceFailure(description: "\(file):\(line): no fault but \(result)")
}
