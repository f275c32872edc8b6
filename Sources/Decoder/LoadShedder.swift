import Bitstream

/// Decides which access units are not decoded, so that a late player catches up: first pictures that no
/// other refers to; if that is not enough, everything up to the next entry point, again and again, until the
/// player is on time.
///
/// Use it in one thread at a time. It has no clock: the caller says how late the player is.
struct LoadShedder: Sendable {
    /// The lateness of a player from which pictures without references to them are skipped.
    static let disposableLimit = Duration.milliseconds(200)
    /// The lateness of a player from which everything up to the next entry point is skipped.
    static let entryLimit = Duration.seconds(1)

    /// The decision on the previous access unit.
    private var last = Decision.decoded
    /// Whether pictures are skipped until the next entry point.
    private var isAwaitingEntry = false

    private enum Decision { case decoded, decodedEntry, skipped }

    /// Whether to skip the next access unit.
    /// - Parameter lateness: how late the player is.
    mutating func skips(_ role: PictureRole, lateness: Duration) -> Bool {
        let decision = decide(
            role, isVeryLate: lateness > Self.entryLimit, isLate: lateness > Self.disposableLimit)
        last = decision
        return decision == .skipped
    }

    private mutating func decide(_ role: PictureRole, isVeryLate: Bool, isLate: Bool) -> Decision {
        // Both fields of a frame are decoded, or neither.
        if role.isSecondField { return last }
        if role.allowsEntry {
            // If every picture is an entry point, every second one is skipped.
            isAwaitingEntry = isVeryLate && last == .decodedEntry
            return isAwaitingEntry ? .skipped : .decodedEntry
        }
        if isVeryLate, !role.isDisposable { isAwaitingEntry = true }
        return isAwaitingEntry || isLate && role.isDisposable ? .skipped : .decoded
    }
}
