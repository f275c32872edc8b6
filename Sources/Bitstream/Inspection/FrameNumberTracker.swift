/// Finds gaps in H.264's `frame_num` (7.4.3): reference pictures that are missing from the stream.
struct FrameNumberTracker: Sendable {
    private var previous: Int?

    /// - Returns: whether pictures are missing before this one.
    mutating func add(_ frame_num: Int, modulus: Int, isIDR: Bool, isReference: Bool) -> Bool {
        defer { if isReference || isIDR { previous = frame_num } }
        guard !isIDR, let former = previous else { return false }
        if frame_num == former || frame_num == (former + 1) % modulus { return false }
        previous = (frame_num + modulus - 1) % modulus
        // After a memory management operation the numbers may restart at 0 or 1 (8.2.1). If they were about to wrap
        // around anyway, pictures are missing.
        return frame_num > 1 || (frame_num - former + modulus) % modulus <= modulus / 2
    }
}
