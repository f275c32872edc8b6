/// A recording's progress, as `stats` on the control socket reports it. Property names are the report's.
public struct RecordingStatistics: Codable, Sendable {
    public var state: State
    /// The time since the recording began.
    public var seconds: Double
    public var captured: Int
    public var droppedByDriver: Int
    public var corrupt: Int
    public var droppedByUs: Int
    public var paused: Int
    /// Frames that a time lapse skipped; nil from an earlier version.
    public var notWanted: Int?
    /// Encoded frames of each encoder.
    public var encoded: [Int]
    public var droppedByEncoder: [Int]
    public var encoderRestarts: [Int]
    /// The camera's restarts.
    public var restarts: Int
    /// Bits per second that the encoder aims at; nil for a quality, or from an earlier version.
    public var bitRate: Int?
    /// The commands that have an effect; nil from an earlier version.
    public var abilities: Abilities?
    /// The number of motion events; nil without --on-motion.
    public var motionEvents: Int?
    /// Whether something moves now; nil without --on-motion.
    public var moving: Bool?
    public var outputs: [Output]
    /// Currently connected receivers.
    public var receivers: [ReceiverReport]

    /// Whether pictures are encoded, and written to files.
    public enum State: String, Codable, Sendable {
        case recording, paused
        /// No file can be written: the disk is full.
        case diskFull = "disk full"
        /// No file can be written: the file system is read-only.
        case readOnly = "read-only"
        /// No file can be written, for another reason.
        case failing

        /// A state of a later version counts as recording.
        public init(from decoder: any Decoder) throws {
            self = State(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .recording
        }
    }

    /// Why an output is not written at present.
    public struct Outage: Codable, Sendable, Hashable {
        /// A word or two: `disk full`, `read-only`.
        public var condition: String
        /// When the outage began, in UTC (ISO 8601).
        public var since: String
        /// The latest failure, as the recording's messages word it.
        public var error: String

        /// Creates an outage.
        public init(condition: String, since: String, error: String) {
            (self.condition, self.since, self.error) = (condition, since, error)
        }
    }

    /// Which commands have an effect.
    public struct Abilities: Codable, Sendable, Hashable {
        /// `trigger`: pictures stay in memory until then.
        public var trigger: Bool
        /// `keyframe`, `bitrate` and `snapshot`: the pictures are encoded here, not in the camera.
        public var encoding: Bool
        /// `controls` and `control`: the source is a camera.
        public var controls: Bool

        /// Creates abilities.
        public init(trigger: Bool, encoding: Bool, controls: Bool) {
            (self.trigger, self.encoding, self.controls) = (trigger, encoding, controls)
        }
    }

    /// One output's progress.
    public struct Output: Codable, Sendable {
        /// Its name, as on the command line.
        public var output: String
        public var written: Int
        public var keyframes: Int
        public var bytes: Int
        public var lost: Int
        /// The latency from capture to write; nil if nothing was written, or the source has no clock.
        public var latency: LatencyCounts?
        /// A file's folder; nil for other outputs.
        public var folder: String?
        /// The number of receivers connected to a live output; nil for other outputs.
        public var receivers: Int?
        /// The number of receivers that have connected so far.
        public var connections: Int?
        /// Why the output is not written at present; nil while it is written, and from an earlier version.
        public var outage: Outage?

        /// Creates the progress of an output.
        public init(
            output: String, written: Int, keyframes: Int, bytes: Int, lost: Int, latency: LatencyCounts?,
            folder: String?, receivers: Int?, connections: Int?, outage: Outage? = nil
        ) {
            (self.output, self.written, self.keyframes) = (output, written, keyframes)
            (self.bytes, self.lost, self.latency) = (bytes, lost, latency)
            (self.folder, self.receivers, self.connections) = (folder, receivers, connections)
            self.outage = outage
        }
    }

    /// Creates statistics without frames and outputs.
    public init(seconds: Double, isPaused: Bool) {
        (state, self.seconds) = (isPaused ? .paused : .recording, seconds)
        (captured, droppedByDriver, corrupt, droppedByUs, paused) = (0, 0, 0, 0, 0)
        (encoded, droppedByEncoder, encoderRestarts, restarts) = ([], [], [], 0)
        (outputs, receivers) = ([], [])
    }
}

// MARK: Receivers and latencies

/// One connection of a live output, as in the report and `stats`. Property names are JSON keys.
public struct ReceiverReport: Codable, Sendable {
    /// The live output that the receiver is connected to.
    public let output: String
    public let peer: String
    public let joinedSeconds: Double
    /// When the receiver left; nil while it is connected.
    public let leftSeconds: Double?
    public let bytes: Int
    /// Access units that the receiver got completely.
    public let units: Int
    /// Access units skipped because the receiver was too slow.
    public let dropped: Int
    public let longestLagMilliseconds: Double
    /// Bytes not acknowledged when the receiver left; lost if the connection broke before they arrived.
    public let unconfirmedBytes: Int
    /// Why it left; nil while it is connected.
    public let left: String?

    /// Creates the report of one connection.
    public init(
        output: String, peer: String, joinedSeconds: Double, leftSeconds: Double?, bytes: Int, units: Int,
        dropped: Int, longestLagMilliseconds: Double, unconfirmedBytes: Int, left: String?
    ) {
        (self.output, self.peer, self.joinedSeconds) = (output, peer, joinedSeconds)
        (self.leftSeconds, self.bytes, self.units, self.dropped) = (leftSeconds, bytes, units, dropped)
        (self.longestLagMilliseconds, self.unconfirmedBytes) = (longestLagMilliseconds, unconfirmedBytes)
        self.left = left
    }
}

/// A histogram of latencies. Property names are JSON keys.
public struct LatencyCounts: Codable, Sendable {
    /// The largest latency of each bucket, in seconds.
    public let bounds: [Double]
    /// The number of latencies in each bucket, and above the last bound.
    public let counts: [Int]
    /// The sum of all latencies, in seconds.
    public let sum: Double

    /// Creates a histogram, with one more count than bounds.
    public init(bounds: [Double], counts: [Int], sum: Double) {
        (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }
}
