/// A device's dense number within its app: given at registration, never reused while the row lives.
public typealias DeviceOrdinal = UInt32

/// 65,536 consecutive ordinals: one bitmap container, one unit of work (ordinal >> 16).
public typealias ShardIndex = UInt16

extension DeviceOrdinal {
  public var shard: ShardIndex { ShardIndex(self >> 16) }
}

extension ShardIndex {
  /// The ordinals that may be in this shard.
  public var ordinals: ClosedRange<DeviceOrdinal> {
    let low = DeviceOrdinal(self) << 16
    return low...(low | 0xFFFF)
  }
}
