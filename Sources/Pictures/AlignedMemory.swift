import Glibc

/// Large memory whose lack is an error, not the end of the process.
package enum AlignedMemory {
    /// Memory on a cache line's boundary, to be released with `free`; nil if there is not enough.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, byteCount)) == 0, let memory else { return nil }
        return UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
    }
}
