import Bitstream
import Capture
import Encoder
import CamPictures
import CamPlatform
import CamDelivery
import CamStorage
import Containers

/// The outcome of a recording.
public struct RecordingOutcome: Sendable {
    /// Why the source ended early; nil if it ended as requested.
    public let capture: RecordingError?
    /// The source as it was at the end.
    public let source: Source
    /// The encoders, in the order of the recording's tracks.
    public let tracks: [Track]
    /// The outputs, in the order of the recording's outputs.
    public let outputs: [Output]
    /// The sound; nil if none was asked for, or no output takes it.
    public let sound: SoundOutcome?
    /// When the first encoded picture was captured; nil if there is none, or the source has no clock.
    public let start: WallTime?
    /// Whether the recording ended where its outputs would have begun new files.
    public let hasReachedCut: Bool
    /// Whether a thread was left hanging in a driver or on a disk: libraries may wait for it at exit.
    public let leavesThread: Bool

    /// The source and its final state.
    public struct Source: Sendable {
        /// With its latest path.
        public let identity: SourceIdentity
        /// Whether its pictures come as they are captured, with times of this machine's clock.
        public let isLive: Bool
        /// The format of its last picture.
        public let format: PictureFormat
        /// The controls set when it was last opened.
        public let controlChanges: [ControlChange]
        /// The requested controls that it does not have.
        public let missingControls: [CaptureError]
    }

    /// The outcome of one encoder.
    public struct Track: Sendable {
        public let codec: Codec
        /// The encoder in use at the end.
        public let choice: EncoderChoice?
        /// What happened to its frames, and its restarts.
        public let counters: Counters<EncoderCounter>
        /// Why the encoder failed for good.
        public let error: EncoderError?
        /// Frames per second by the source's clock, without lost frames and pauses; nil for fewer than two
        /// frames.
        public let measuredRate: Double?
        /// Frames per second by the stream's VUI; nil if it has none.
        public let statedRate: Double?
        /// The measured bit rate.
        public let rate: Rate
    }

    /// A stream's bit rate, by capture time.
    public struct Rate: Sendable, Hashable {
        /// Bits per second over the whole stream, without pauses; nil if it has no duration.
        public let average: Double?
        /// Bits per second in the fullest window, or in the whole stream if that is shorter.
        public let worstWindow: Double
        /// The window's length in seconds.
        public let window: Double
        /// The latest promise; nil if the encoder made none.
        public let promise: RatePromise?
        /// Whether the promise has changed.
        public let hasChanged: Bool
        /// An average above its promise, in bits per second; nil if there was none.
        public let brokenAverage: Double?
        /// The average promised at that time.
        public let wantedAverage: Int?
        /// Bits per second in the window that exceeded its promise most; nil if none did.
        public let brokenWindow: Double?
        /// The maximum at that time.
        public let brokenMaximum: Int?
    }

    /// The outcome of one output.
    public struct Output: Sendable {
        /// Its name in messages.
        public let name: String
        /// The requested output.
        public let choice: OutputChoice
        public let delivery: Delivery
        /// Access units that had to wait for room in the output's queue.
        public let waits: Int
        /// The latency; nil if nothing was written or the source has no clock.
        public let latency: Latency?
        /// The files of a segmented output; nil for a single file, or if the writer hangs.
        public let segments: SegmentSummary?
        /// A live output's receivers; nil for other outputs.
        public let receivers: ReceiverLedger?
        /// Why the output ended early.
        public let error: OutputError?
    }

    /// What an output wrote and lost, in access units.
    public struct Delivery: Sendable, Hashable {
        public let written: Int
        /// Written access units that are IDRs.
        public let keyframes: Int
        public let bytes: Int
        public let lost: Int
    }

    /// The latency from capture to write.
    public struct Latency: Sendable, Hashable {
        /// Half of the frames took at most this long.
        public let median: Duration
        /// 99 of 100 frames took at most this long.
        public let percentile99: Duration
        /// The slowest frame.
        public let maximum: Duration
    }

    /// All errors, those closest to the results first: outputs, encoders, the source.
    public var errors: [RecordingError] {
        outputs.compactMap { $0.error.map(RecordingError.output) }
            + tracks.compactMap { $0.error.map(RecordingError.encoder) } + [capture].compactMap { $0 }
    }
}
