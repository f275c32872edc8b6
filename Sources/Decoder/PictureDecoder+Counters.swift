extension PictureDecoder {
    /// What happened to the access units.
    ///
    /// After the last picture was taken, `received` is the sum of all others except `losses`.
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
        /// Access units that were decoded, but whose pictures never came out.
        public internal(set) var lost = 0
        /// Access units that the stream itself keeps from being shown: H.265's leading pictures that refer to
        /// those before the entry point, and those that are not for output.
        public internal(set) var withheld = 0
        /// Access units whose pending pictures were discarded by the caller.
        public internal(set) var unplayed = 0
        /// Gaps, damaged access units, complaints of libavcodec, and pictures that it left out.
        public internal(set) var losses = 0

        /// Creates counters at zero.
        public init() {}
    }
}

// MARK: Pictures that are not output

/// Why a decoded picture is not output.
enum Omission {
    /// Decoding has just begun, and the picture is not correct yet.
    case beforeEntry
    /// The same, after a loss.
    case frozen
    /// The stream itself hides it.
    case withheld
}
