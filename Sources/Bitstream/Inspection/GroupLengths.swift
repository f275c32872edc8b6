/// The lengths of groups of pictures, from one keyframe to the next.
struct GroupLengths: Sendable {
    private var shortest: Int?
    private var longest: Int?
    private var current: Int?

    mutating func add(isKeyframe: Bool, isSecondField: Bool) {
        if isKeyframe {
            if let current {
                shortest = min(shortest ?? current, current)
                longest = max(longest ?? current, current)
            }
            current = 0
        }
        current = current.map { $0 + (isSecondField ? 0 : 1) }
    }

    /// In frames, of the groups that ended with another keyframe, or of the only group.
    var range: ClosedRange<Int>? {
        guard let shortest = shortest ?? current, let longest = longest ?? current else { return nil }
        return shortest...longest
    }
}
