/// Why a store did not do what it was asked. Whatever the case, nothing of the operation was kept.
public enum StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// No room left; works again once somebody makes some.
  case full(String)
  /// An error of disk, network or server; may work later.
  case unavailable(String)
  /// What was read cannot be right; an operator must look.
  case corrupt(String)
  /// The store was closed.
  case closed
  /// A key that must be new is taken.
  case taken(String)
  /// The place is used by another process, or is not ours to write, or was made by a newer Belfry.
  case unusable(String)

  public var description: String {
    switch self {
    case .full(let words): "no room left: \(words)"
    case .unavailable(let words): words
    case .corrupt(let words): "damaged: \(words)"
    case .closed: "the store is closed"
    case .taken(let words): "already there: \(words)"
    case .unusable(let words): words
    }
  }
}
