import Bitstream
import Capture
import Encoder
import Output
import Pictures

/// What came of a recording.
public struct RecordingOutcome: Sendable {
    /// Why the source ended early; nil where it ended as asked.
    public let capture: RecordingError?
    /// The source as it was at the end.
    public let source: Source
    /// In the order of the recording's tracks.
    public let tracks: [Track]
    /// In the order of the recording's outputs.
    public let outputs: [Output]
    /// A thread hangs in a driver or on a disk and was left behind: libraries may wait for it when the process ends.
    public let leavesThread: Bool

    /// Which source it was, and what it delivered.
    public struct Source: Sendable {
        /// Under the path that it had last.
        public let identity: SourceIdentity
        /// Of its last picture.
        public let format: PictureFormat
        /// The controls that were set when it was opened last.
        public let controlChanges: [ControlChange]
    }

    /// What came of one encoder.
    public struct Track: Sendable {
        public let codec: Codec
        /// The encoder in use at the end.
        public let choice: EncoderChoice?
        /// What became of the frames, and how often it was reopened.
        public let counters: Counters<EncoderCounter>
        /// Why it failed for good.
        public let error: EncoderError?
        /// Frames a second by the source's clock, lost ones missing and pauses left out; nil for less than two.
        public let measuredRate: Double?
        /// Frames a second by the stream's VUI; nil where it does not say.
        public let statedRate: Double?
        /// Bits a second, as they came out.
        public let rate: Rate
    }

    /// A stream's bits, by time of capture.
    public struct Rate: Sendable, Hashable {
        /// Bits a second over the whole stream, pauses left out; nil where that has no length.
        public let average: Double?
        /// Bits a second in the fullest window.
        public let worstWindow: Double
        /// Its length in seconds.
        public let window: Double
        /// What was promised last; nil where nothing could be.
        public let promise: RatePromise?
        /// Whether it was another before.
        public let hasChanged: Bool
        /// Bits a second of an average above what was promised; nil where there is none.
        public let brokenAverage: Double?
        /// What was promised then.
        public let wantedAverage: Int?
        /// Bits a second in the worst of the windows with more than was promised; nil where there is none.
        public let brokenWindow: Double?
        /// What the maximum was then.
        public let brokenMaximum: Int?
    }

    /// What came of one output.
    public struct Output: Sendable {
        /// What it is called in messages.
        public let name: String
        /// What was asked for.
        public let choice: OutputChoice
        public let delivery: Delivery
        /// Access units for which its queue had no room at first.
        public let waits: Int
        /// Capture to write; nil if nothing was written or the source has no clock.
        public let latency: Latency?
        /// Its files, if there may be several and its writer does not hang.
        public let segments: SegmentSummary?
        /// Who took a live output's stream; nil for other outputs.
        public let receivers: ReceiverLedger?
        /// Why it ended early.
        public let error: OutputError?
    }

    /// What an output has, in access units, and what it lost.
    public struct Delivery: Sendable, Hashable {
        public let written: Int
        /// Of the written: IDRs.
        public let keyframes: Int
        public let bytes: Int
        public let lost: Int
    }

    /// From capture to write.
    public struct Latency: Sendable, Hashable {
        /// Half of the frames took no longer.
        public let median: Duration
        /// 99 of 100 frames took no longer.
        public let percentile99: Duration
        /// The slowest frame.
        public let maximum: Duration
    }

    /// Everything that went wrong, what was asked for and is missing first: outputs, encoders, the source.
    public var errors: [RecordingError] {
        outputs.compactMap { $0.error.map(RecordingError.output) }
            + tracks.compactMap { $0.error.map(RecordingError.encoder) } + [capture].compactMap { $0 }
    }
}
