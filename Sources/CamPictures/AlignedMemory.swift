import Glibc

/// Large allocations that fail with an error instead of ending the process.
package enum AlignedMemory {
    /// Allocates memory that begins at a cache line; release it with `free`. Returns nil if there is not
    /// enough.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, byteCount)) == 0, let memory else { return nil }
        return UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }
}
