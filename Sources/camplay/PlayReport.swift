/// The report of `--report`.
struct PlayReport: Encodable {
    /// Counts of pictures. `received` is the sum of all up to `unplayed`; with a window `decoded` is the sum of those
    /// after it.
    struct Pictures: Encodable {
        var received = 0
        var decoded = 0
        /// Second fields of pictures that are counted in `decoded`.
        var secondFields = 0
        var beforeFirstKeyframe = 0
        var frozen = 0
        /// Left out to catch up, or decoded only to reach the position where playing continues.
        var skipped = 0
        /// Decoded, but dropped by libavcodec.
        var lost = 0
        /// Pictures that the stream marks as hidden.
        var withheld = 0
        /// Still pending when enough pictures had been played.
        var unplayed = 0
        /// Shown in the window.
        var shown = 0
        /// Too late to be shown.
        var late = 0
        /// Live pictures that were not shown because of a pause.
        var paused = 0
    }

    /// The sound that was played.
    struct Sound: Encodable {
        var codec: String?
        var rate = 0
        var channels = 0
        var secondsPlayed = 0.0
        /// Silence played where the file has no sound.
        var secondsOfSilence = 0.0
        /// Sound dropped because it came too late.
        var secondsLeftOut = 0.0
        /// How many seconds early the sound was at the end; negative if late.
        var earlyBy = 0.0
    }

    /// The time from the capture of a live stream's pictures, as they state it, until they are decoded. Negative if the
    /// sender's clock is ahead.
    struct Delay: Encodable {
        /// The number of pictures that state their capture time.
        private(set) var pictures = 0
        /// Seconds.
        private(set) var mean = 0.0
        private(set) var largest = 0.0

        mutating func add(_ delay: Duration) {
            largest = pictures == 0 ? delay.inSeconds : max(largest, delay.inSeconds)
            pictures += 1
            mean += (delay.inSeconds - mean) / Double(pictures)
        }
    }

    let source: String
    var codec: String?
    var width: Int?
    var height: Int?
    /// `software`, or the render node.
    var decoder: String?
    /// Why no GPU decodes.
    var reasons: [String] = []
    var pictures = Pictures()
    /// Nil if no picture of a live stream states its capture time.
    var delay: Delay?
    /// Nil if no sound was wanted, or there is none.
    var sound: Sound?
    var losses = 0
    var lastLoss: String?
    var connections = 0
    var bytes = 0
    var seconds = 0.0
}
