import Testing

@testable import Transport

@Suite("Memory of an HTTP/2 session")
struct HTTP2MemoryTests {
  /// The system's allocator, counted, which may be told to fail.
  final class Store {
    var out: Set<UnsafeMutableRawPointer> = []
    var calls = 0
    /// The call from which on there is no memory.
    var failsFrom = Int.max

    var system: HTTP2Memory.System {
      HTTP2Memory.System(
        allocate: { [self] size in
          calls += 1
          guard calls < failsFrom else { return nil }
          let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
          out.insert(block)
          return block
        },
        free: { [self] block in
          #expect(out.remove(block) != nil, "given back twice, or never taken")
          block.deallocate()
        })
    }
  }

  static let sizes = [0, 1, 15, 16, 17, 100, 1008, 1009, 1024, 1025, 5000, 100_000]

  @Test(
    "blocks of every size are aligned, apart from each other, and all given back at the end", arguments: [true, false])
  func sizes(isListed: Bool) throws {
    let store = Store()
    do {
      let memory = HTTP2Memory(isListed: isListed, system: store.system)
      var blocks: [(UnsafeMutableRawPointer, Int, UInt8)] = []
      for (place, size) in (Self.sizes + Self.sizes).enumerated() {
        let block = try #require(memory.allocate(size))
        #expect(UInt(bitPattern: block) % 16 == 0)
        block.initializeMemory(as: UInt8.self, repeating: UInt8(place), count: size)
        blocks.append((block, size, UInt8(place)))
      }
      for (block, size, mark) in blocks {
        #expect(UnsafeRawBufferPointer(start: block, count: size).allSatisfy { $0 == mark })
      }
      for (block, _, _) in blocks { memory.free(block) }
      memory.free(nil)
    }
    #expect(store.out.isEmpty)
  }

  @Test("a block given back is the next of its size, without a call to the system; zeroed when asked so")
  func reuse() throws {
    let store = Store()
    let memory = HTTP2Memory(isListed: true, system: store.system)
    let block = try #require(memory.allocate(40))
    block.initializeMemory(as: UInt8.self, repeating: 0xFF, count: 40)
    let calls = store.calls
    memory.free(block)
    #expect(memory.allocate(20) != block)  // of another size
    let again = try #require(memory.allocateZeroed(3, 11))
    #expect(again == block)
    #expect(UnsafeRawBufferPointer(start: again, count: 33).allSatisfy { $0 == 0 })
    #expect(store.calls == calls)
  }

  @Test("under a sanitizer each block goes back to the system, which can tell a late reader")
  func unlisted() throws {
    let store = Store()
    let memory = HTTP2Memory(isListed: false, system: store.system)
    for size in Self.sizes {
      let block = try #require(memory.allocate(size))
      #expect(store.out.count == 1)
      memory.free(block)
      #expect(store.out.isEmpty)
    }
  }

  @Test("what grows keeps its content", arguments: [true, false])
  func resize(isListed: Bool) throws {
    let store = Store()
    do {
      let memory = HTTP2Memory(isListed: isListed, system: store.system)
      var block = try #require(memory.reallocate(nil, 10))
      block.initializeMemory(as: UInt8.self, repeating: 7, count: 10)
      for size in [12, 100, 90, 1024, 1025, 70_000, 8] {
        block = try #require(memory.reallocate(block, size))
        #expect(UnsafeRawBufferPointer(start: block, count: min(size, 10)).allSatisfy { $0 == 7 })
      }
      memory.free(block)
    }
    #expect(store.out.isEmpty)
  }

  @Test("no memory is nil, whichever call fails; what was there stays good", arguments: [true, false], 1...4)
  func failure(isListed: Bool, failsFrom: Int) {
    let store = Store()
    store.failsFrom = failsFrom
    do {
      let memory = HTTP2Memory(isListed: isListed, system: store.system)
      var blocks: [UnsafeMutableRawPointer] = []
      while let block = memory.allocate(1000) {
        block.initializeMemory(as: UInt8.self, repeating: 9, count: 1000)
        blocks.append(block)
      }
      #expect(blocks.isEmpty == (failsFrom == 1))
      #expect(memory.allocateZeroed(2, 3000) == nil)
      if let last = blocks.last { #expect(memory.reallocate(last, 4000) == nil) }
      for block in blocks {
        #expect(UnsafeRawBufferPointer(start: block, count: 1000).allSatisfy { $0 == 9 })
      }
      store.failsFrom = .max
      let late = memory.allocate(3000)
      #expect(late != nil)
      for block in blocks + [late] { memory.free(block) }
    }
    #expect(store.out.isEmpty)
  }

  @Test("sizes that nobody has are nil")
  func absurd() {
    let memory = HTTP2Memory()
    #expect(memory.allocate(.max) == nil)
    #expect(memory.allocate(-1) == nil)  // a size_t above Int.max
    #expect(memory.allocateZeroed(.max, 2) == nil)
  }
}
