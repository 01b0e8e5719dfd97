/// What the services keep.
public protocol Store: Sendable {}
