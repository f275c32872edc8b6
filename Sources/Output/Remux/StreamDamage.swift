/// The damage in a recording. A damaged picture is left out, and so is everything up to the next keyframe, which may
/// refer to it.
struct StreamDamage {
    /// What was found first, in words; nil if nothing was.
    private(set) var first: String?
    /// The damage that no keyframe has followed yet, in words; nil if there is none.
    private(set) var open: String?
    /// Pictures left out because of it.
    private(set) var openCount = 0
    private var count = 0
    private var places = 0

    /// Records damage. Everything up to the next keyframe counts as one place.
    mutating func begin(_ problem: @autoclosure () -> String) {
        if open != nil { return }
        open = problem()
        first = first ?? open
        places += 1
    }

    /// Leaves a picture out.
    mutating func leaveOut() { openCount += 1 }

    /// Notes a keyframe, which ends the damage.
    mutating func end() {
        count += openCount
        (open, openCount) = (nil, 0)
    }

    /// A description of damage that keyframes followed; nil if there was none.
    var sentence: String? {
        // Damage that no keyframe follows belongs to `atEnd`.
        let places = places - (open == nil ? 0 : 1)
        guard places > 0, let first else { return nil }
        let place = places == 1 ? "" : ", in \(places) places"
        // Between the damage and the next keyframe there may be nothing readable.
        return count == 0
            ? "left out because of damage\(place): \(first)"
            : "pictures left out because of damage, up to the next keyframe: \(count)\(place); \(first)"
    }

    /// A description of damage that no keyframe followed; nil if there is none.
    var atEnd: String? { open.map { openCount == 0 ? $0 : "pictures: \(openCount); \($0)" } }
}
