extension Callback.Method {
  // From the headers PKPushRegistry.h and CXProvider.h and Apple's pages of the same methods.
  static let credentialsUpdated =
    Declaration(
      .pushRegistryDelegate,
      "- (void)pushRegistry:(PKPushRegistry *)registry"
        + " didUpdatePushCredentials:(PKPushCredentials *)pushCredentials forType:(PKPushType)type",
      "func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials,"
        + " for type: PKPushType)")
  static let pushKitPushReceived =
    Declaration(
      .pushRegistryDelegate,
      "- (void)pushRegistry:(PKPushRegistry *)registry"
        + " didReceiveIncomingPushWithPayload:(PKPushPayload *)payload forType:(PKPushType)type"
        + " withCompletionHandler:(void (^)(void))completion",
      "func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,"
        + " for type: PKPushType, completion: @escaping () -> Void)")
  /// iOS 8–10, deprecated in 11 (Apple, `pushRegistry(_:didReceiveIncomingPushWith:for:)`).
  static let pushKitPushReceivedBefore11 =
    Declaration(
      .pushRegistryDelegate,
      "- (void)pushRegistry:(PKPushRegistry *)registry"
        + " didReceiveIncomingPushWithPayload:(PKPushPayload *)payload forType:(PKPushType)type",
      "func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload,"
        + " for type: PKPushType)")
  static let credentialsInvalidated =
    Declaration(
      .pushRegistryDelegate,
      "- (void)pushRegistry:(PKPushRegistry *)registry didInvalidatePushTokenForType:(PKPushType)type",
      "func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)")
  static let callReported =
    Declaration(
      .callProvider,
      "- (void)reportNewIncomingCallWithUUID:(NSUUID *)UUID update:(CXCallUpdate *)update"
        + " completion:(void (^)(NSError *error))completion",
      "func reportNewIncomingCall(with UUID: UUID, update: CXCallUpdate,"
        + " completion: @escaping ((any Error)?) -> Void)")
  static let answerCall = action("CXAnswerCallAction", "performAnswerCallAction")
  static let endCall = action("CXEndCallAction", "performEndCallAction")

  private static func action(_ type: String, _ name: String) -> Declaration {
    Declaration(
      .callDelegate, "- (void)provider:(CXProvider *)provider \(name):(\(type) *)action",
      "func provider(_ provider: CXProvider, perform action: \(type))")
  }
}
