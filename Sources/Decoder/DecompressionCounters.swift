extension DecompressionSession {
    /// The number of access units by outcome.
    ///
    /// After the last picture was received, `received` is the sum of all other counters except `losses`.
    public struct Counters: Sendable, Equatable {
        /// Access units with a picture.
        public internal(set) var received = 0
        /// Pictures that were output.
        public internal(set) var decoded = 0
        /// Access units that are the second field of a picture that was output.
        public internal(set) var secondFields = 0
        /// Access units before the first entry point.
        public internal(set) var beforeEntry = 0
        /// Access units not output because of a loss before or in them.
        public internal(set) var frozen = 0
        /// Access units not decoded at the caller's request.
        public internal(set) var skipped = 0
        /// Access units that were decoded without a picture coming out.
        public internal(set) var lost = 0
        /// Access units that the stream hides: leading pictures of H.265 that refer to pictures before the
        /// entry point, and pictures that are not for output.
        public internal(set) var withheld = 0
        /// Access units whose pending pictures were discarded by the caller.
        public internal(set) var unplayed = 0
        /// Gaps, damaged access units, complaints of libavcodec, and pictures that libavcodec dropped.
        public internal(set) var losses = 0

        /// Creates counters at zero.
        public init() {}
    }
}

// MARK: Pictures that are not output

/// The reason a decoded picture is not output.
enum Omission {
    /// Decoding began at a recovery point, and the picture is not correct yet.
    case beforeEntry
    /// As `beforeEntry`, after a loss.
    case frozen
    /// The stream or the caller hides the picture.
    case withheld
}
