import Bitstream
import Capture
import Encoder
import CamPictures
import CamPlatform
import CamDelivery
import CamStorage
import Containers

/// The outcome of a recording.
package struct RecordingOutcome: Sendable {
    /// Why the source ended early; nil if it ended as requested.
    package let capture: RecordingError?
    /// The source as it was at the end.
    package let source: Source
    /// The encoders, in the order of the recording's tracks.
    package let tracks: [Track]
    /// The outputs, in the order of the recording's outputs.
    package let outputs: [Output]
    /// The sound; nil if none was asked for, or no output takes it.
    package let sound: SoundOutcome?
    /// When the first encoded picture was captured; nil if there is none, or the source has no clock.
    package let start: WallTime?
    /// Whether the recording ended where its outputs would have begun new files.
    package let hasReachedCut: Bool
    /// Whether a thread was left hanging in a driver or on a disk: libraries may wait for it at exit.
    package let hasHungThread: Bool

    /// The source and its final state.
    package struct Source: Sendable {
        /// With its latest path.
        package let identity: SourceIdentity
        /// Whether its pictures come as they are captured, with times of this machine's clock.
        package let isLive: Bool
        /// The format of its last picture.
        package let format: PictureFormat
        /// The controls set when it was last opened.
        package let controlChanges: [ControlChange]
        /// The requested controls that it does not have.
        package let missingControls: [CaptureError]
    }

    /// The outcome of one encoder.
    package struct Track: Sendable {
        package let codec: Codec
        /// The encoder in use at the end.
        package let choice: EncoderChoice?
        /// What happened to its frames, and its restarts.
        package let counters: Counters<EncoderCounter>
        /// Why the encoder failed for good.
        package let error: EncoderError?
        /// Frames per second by the source's clock, without lost frames and pauses; nil for fewer than two
        /// frames.
        package let measuredRate: Double?
        /// Frames per second by the stream's VUI; nil if it has none.
        package let statedRate: Double?
        /// The measured bit rate.
        package let rate: Rate
    }

    /// A stream's bit rate, by capture time.
    package struct Rate: Sendable, Hashable {
        /// Bits per second over the whole stream, without pauses; nil if it has no duration.
        package let average: Double?
        /// Bits per second in the fullest window, or in the whole stream if that is shorter.
        package let worstWindow: Double
        /// The window's length in seconds.
        package let window: Double
        /// The latest promise; nil if the encoder made none.
        package let promise: RatePromise?
        /// Whether the promise has changed.
        package let hasChanged: Bool
        /// An average above its promise, in bits per second; nil if there was none.
        package let brokenAverage: Double?
        /// The average promised at that time.
        package let wantedAverage: Int?
        /// Bits per second in the window that exceeded its promise most; nil if none did.
        package let brokenWindow: Double?
        /// The maximum at that time.
        package let brokenMaximum: Int?
    }

    /// The outcome of one output.
    package struct Output: Sendable {
        /// Its name in messages.
        package let name: String
        /// The requested output.
        package let choice: OutputChoice
        /// The place of its rendition among `tracks`.
        package let track: Int
        package let delivery: Delivery
        /// Access units that had to wait for room in the output's queue.
        package let waits: Int
        /// The latency; nil if nothing was written or the source has no clock.
        package let latency: Latency?
        /// The files of a segmented output; nil for a single file, or if the writer hangs.
        package let segments: SegmentSummary?
        /// A live output's receivers; nil for other outputs.
        package let receivers: ReceiverLedger?
        /// Why the output ended early.
        package let error: OutputError?
    }

    /// What an output wrote and lost, in access units.
    package struct Delivery: Sendable, Hashable {
        package let written: Int
        /// Written access units that are IDRs.
        package let keyframes: Int
        package let bytes: Int
        package let lost: Int
    }

    /// The latency from capture to write.
    package struct Latency: Sendable, Hashable {
        /// Half of the frames took at most this long.
        package let median: Duration
        /// 99 of 100 frames took at most this long.
        package let percentile99: Duration
        /// The slowest frame.
        package let maximum: Duration
    }

    /// All errors, those closest to the results first: outputs, encoders, the source.
    package var errors: [RecordingError] {
        outputs.compactMap { $0.error.map(RecordingError.output) }
            + tracks.compactMap { $0.error.map(RecordingError.encoder) } + [capture].compactMap { $0 }
    }
}
