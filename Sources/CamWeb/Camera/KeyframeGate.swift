/// Keeps a stream decodable for a receiver that cannot take all of it: once a picture has no room, none passes until the
/// next keyframe that has.
struct KeyframeGate: Sendable {
    /// Whether the next picture passes if it has room.
    private(set) var isOpen = false

    /// Returns whether a picture passes.
    /// - Parameters:
    ///   - isKeyframe: whether decoding can begin with it.
    ///   - hasRoom: whether the receiver can take it.
    mutating func admits(isKeyframe: Bool, hasRoom: Bool) -> Bool {
        if !hasRoom { isOpen = false } else if isKeyframe { isOpen = true }
        return isOpen
    }
}
