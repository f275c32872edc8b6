/// What has been received of a stream so far, for the line of statistics.
struct StreamTotals: Equatable {
    /// Bytes received.
    var bytes = 0
    var losses = 0
    /// Pictures left out because of losses, frozen or lost.
    var missing = 0
    /// Pictures left out to catch up.
    var skipped = 0
}
