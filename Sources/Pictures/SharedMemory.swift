import Glibc
import Synchronization

/// Buffers that devices share, and what the processor sees of them: addresses are reserved for each, where it is mapped when
/// the processor first looks at its picture. What cannot be mapped looks black.
///
/// Safe to use from any thread.
package final class SharedMemory: Sendable {
    let buffers: [DMABuffer]
    /// Where each is mapped.
    nonisolated(unsafe) let places: [UnsafeMutableRawBufferPointer]
    private let state = Mutex(State())

    private struct State: ~Copyable {
        /// By buffer, how many own it.
        var holders = InlineArray<32, UInt8>(repeating: 0)
        /// Which are mapped, and which are being read, as bits.
        var mapped: UInt32 = 0
        var read: UInt32 = 0
        var isShown = true
    }

    /// - Returns: nil if there are no addresses left.
    init?(_ buffers: [DMABuffer], length: Int) {
        self.buffers = buffers
        var places: [UnsafeMutableRawBufferPointer] = []
        for _ in buffers {
            let place = mmap(
                nil, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
            guard let place, place != MAP_FAILED else {
                for place in places { munmap(place.baseAddress, place.count) }
                return nil
            }
            places.append(UnsafeMutableRawBufferPointer(start: place, count: length))
        }
        self.places = places
    }

    func addHolder(of index: Int) { state.withLock { $0.holders[index] += 1 } }

    /// - Returns: whether the buffer has no owner any more.
    func removeHolder(of index: Int) -> Bool {
        state.withLock { state in
            state.holders[index] -= 1
            guard state.holders[index] == 0 else { return false }
            let bit = UInt32(1) << UInt32(index)
            if state.read & bit != 0 { buffers[index].synchronize(isEnd: true) }
            state.read &= ~bit
            if !state.isShown { hide(index, &state) }
            return true
        }
    }

    /// Lets the processor see a buffer until it has no owner any more.
    func show(_ index: Int) {
        state.withLock { state in
            let bit = UInt32(1) << UInt32(index)
            guard state.read & bit == 0 else { return }
            if state.mapped & bit == 0 {
                // The addresses are ours, so this fails only if the system has no memory for page tables.
                if !buffers[index].map(over: places[index]) { reserve(index, PROT_READ | PROT_WRITE) }
                state.mapped |= bit
            }
            buffers[index].synchronize(isEnd: false)
            state.read |= bit
        }
    }

    /// Whether the processor keeps seeing buffers without an owner.
    func setShown(_ isShown: Bool) {
        state.withLock { state in
            state.isShown = isShown
            guard !isShown else { return }
            for index in buffers.indices where state.holders[index] == 0 { hide(index, &state) }
        }
    }

    private func hide(_ index: Int, _ state: inout State) {
        let bit = UInt32(1) << UInt32(index)
        guard state.mapped & bit != 0 else { return }
        reserve(index, PROT_NONE)
        state.mapped &= ~bit
    }

    private func reserve(_ index: Int, _ protection: Int32) {
        mmap(
            places[index].baseAddress, places[index].count, protection,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
    }
}
