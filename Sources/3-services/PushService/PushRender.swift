import Delivery
import PushPayload
import Store

/// Writes a push for each device: token, badge and id differ, and what the push says where it is personal.
struct PushRender: Sendable {
  private let message: Int64
  /// In the payload.
  private let written: Int64?
  private let content: RecipientContent
  private let shared: PushBatch.Shared
  private let hasBadge: Bool

  /// nil for what no Belfry wrote.
  init?(_ push: StoredPush, _ app: AppRecord) {
    guard let document = try? JSONReader.read(push.payload), case .object(let payload) = document.value,
      let pushType = PushType(rawValue: push.pushType), let priority = PushPriority(rawValue: push.priority),
      let content = RecipientContent(payload, push.personal, pushType, hasBadge: push.badge != .none)
    else { return nil }
    message = push.id
    written = pushType.carriesMessageID ? push.id : nil
    self.content = content
    shared = PushBatch.Shared(
      topic: pushType.topic(bundleID: app.bundleID), pushType: pushType, priority: priority,
      expiration: push.expiration, collapseID: push.shownID)
    hasBadge = push.badge != .none
  }

  /// One push for each device, in the same order, written where it will leave from.
  func batch(_ devices: [ClaimedDevice]) -> PushBatch {
    var batch = PushBatch()
    batch.reserve(devices.count, bodySize: content.usualSize)
    let shared = batch.share(shared)
    for device in devices {
      let badge = hasBadge ? Int64(device.badge) : nil
      let id = PushIdentity.apnsID(message: message, device: device.ordinal)
      switch content.body(for: device.recipient) {
      case .shared(let renderer):
        batch.append(
          id: id, token: device.token, shared: shared, bodySize: renderer.size(badge: badge, messageID: written)
        ) { body in renderer.write(badge: badge, messageID: written, into: body) ?? 0 }
      case .own(let payload):
        let bytes = JSONValue.object(
          PayloadRenderer.rendered(payload, badge: badge, messageID: written)
        ).encoded()
        batch.append(id: id, token: device.token, shared: shared, bodySize: bytes.count) { body in
          body.copyBytes(from: bytes)
          return bytes.count
        }
      }
    }
    return batch
  }
}

extension PushType {
  /// Whether `_j_msgid` stands in the payload: not where no code of the app sees it.
  var carriesMessageID: Bool {
    switch self {
    case .liveactivity: false
    case .alert, .background, .voip, .complication, .fileprovider, .mdm, .location, .pushtotalk, .controls, .widgets:
      true
    }
  }
}

/// What a push says to a recipient, ready to be written. What is the same for many is prepared once.
private struct RecipientContent: Sendable {
  private let plain: PayloadRenderer
  private let personal: Personal?

  private struct Personal: Sendable {
    var content: PersonalContent
    var payload: PersonalPayload
    /// Of the variants that are the same for all their recipients.
    var fixed: [PersonalPayload.Variant: PayloadRenderer] = [:]
    /// Bytes that a payload may have before badge and message id are in it.
    var limit: Int

    func fitting(_ object: JSONObject) -> JSONObject {
      content.shortens ? object.shortened(to: limit) ?? object : object
    }
  }

  init?(_ payload: JSONObject, _ stored: [UInt8]?, _ type: PushType, hasBadge: Bool) {
    guard let stored else {
      plain = PayloadRenderer(payload)
      personal = nil
      return
    }
    guard let content = PersonalContent(stored: stored), let variants = try? content.payload(payload) else {
      return nil
    }
    var personal = Personal(
      content: content, payload: variants, limit: type.sizeLimit - PushDraft.overhead(hasBadge: hasBadge))
    for variant in variants.variants where variants.isFixed(variant) {
      personal.fixed[variant] = PayloadRenderer(personal.fitting(variants.payload(variant) { _ in nil }))
    }
    plain = PayloadRenderer(payload)
    self.personal = personal
  }

  var usualSize: Int { plain.maximumSize }

  enum Body {
    case shared(PayloadRenderer)
    /// Nobody else's, still without badge and message id.
    case own(JSONObject)
  }

  func body(for recipient: ClaimedDevice.Recipient?) -> Body {
    guard let personal, let recipient else { return .shared(plain) }
    let variant = personal.payload.variant(for: recipient.facts.language)
    if let fixed = personal.fixed[variant] { return .shared(fixed) }
    let values = personal.content.values(for: recipient)
    return .own(personal.fitting(personal.payload.payload(variant, filledBy: values)))
  }
}

extension PersonalContent {
  /// By name: what the caller gave for the recipient, else what its device tells.
  fileprivate func values(for recipient: ClaimedDevice.Recipient) -> (String) -> String? {
    let given = recipients[recipient.registrationID] ?? recipient.alias.flatMap { recipients[$0] } ?? [:]
    return { name in
      if let value = given[name] { return value }
      return switch DeviceName(rawValue: name) {
      case .registrationID: recipient.registrationID
      case .alias: recipient.alias
      case .language: recipient.facts.language
      case .appVersion: recipient.facts.appVersion
      case .osVersion: recipient.facts.osVersion
      case .timeZone: recipient.facts.timeZone
      case .model: recipient.facts.model
      case nil: nil
      }
    }
  }
}
