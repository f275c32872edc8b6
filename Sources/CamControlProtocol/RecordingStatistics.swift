/// A recording's progress, as `stats` on the control socket reports it. Property names are the report's.
package struct RecordingStatistics: Codable, Sendable {
    package var state: State
    /// The time since the recording began.
    package var seconds: Double
    package var captured: Int
    package var droppedByDriver: Int
    package var corrupt: Int
    package var droppedByUs: Int
    package var paused: Int
    /// Frames that a time lapse skipped; nil from an earlier version.
    package var notWanted: Int?
    /// Encoded frames of each encoder.
    package var encoded: [Int]
    package var droppedByEncoder: [Int]
    package var encoderRestarts: [Int]
    /// The camera's restarts.
    package var restarts: Int
    /// Bits per second that the encoder aims at; nil for a quality, or from an earlier version.
    package var bitRate: Int?
    /// The commands that have an effect; nil from an earlier version.
    package var abilities: Abilities?
    /// The number of motion events; nil without --on-motion.
    package var motionEvents: Int?
    /// Whether something moves now; nil without --on-motion.
    package var moving: Bool?
    package var outputs: [Output]
    /// Currently connected receivers.
    package var receivers: [ReceiverReport]

    /// Whether pictures are encoded, and written to files.
    package enum State: String, Codable, Sendable {
        case recording, paused
        /// The camera is off, because there is no viewer.
        case idle
        /// No file can be written: the disk is full.
        case diskFull = "disk full"
        /// No file can be written: the file system is read-only.
        case readOnly = "read-only"
        /// No file can be written, for another reason.
        case failing

        /// A state of a later version counts as recording.
        package init(from decoder: any Decoder) throws {
            self = State(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .recording
        }
    }

    /// Why an output is not written at present.
    package struct Outage: Codable, Sendable, Hashable {
        /// A word or two: `disk full`, `read-only`.
        package var condition: String
        /// When the outage began, in UTC (ISO 8601).
        package var since: String
        /// The latest failure, as the recording's messages word it.
        package var error: String

        /// Creates an outage.
        package init(condition: String, since: String, error: String) {
            (self.condition, self.since, self.error) = (condition, since, error)
        }
    }

    /// Which files an output keeps, as `--keep` and `--min-free` say; nil for no limit.
    package struct Limits: Codable, Sendable, Hashable {
        package var seconds: Double?
        package var bytes: Int?
        /// Files.
        package var count: Int?
        /// Bytes of the disk that stay free.
        package var freeBytes: Int?
        /// The share of the disk that stays free, 0 to 1.
        package var freeShare: Double?

        /// Creates limits that remove nothing.
        package init() {}
    }

    /// Which commands have an effect.
    package struct Abilities: Codable, Sendable, Hashable {
        /// `trigger`: pictures stay in memory until then.
        package var trigger: Bool
        /// `keyframe`, `bitrate` and `snapshot`: the pictures are encoded here, not in the camera.
        package var encoding: Bool
        /// `controls` and `control`: the source is a camera.
        package var controls: Bool

        /// Creates abilities.
        package init(trigger: Bool, encoding: Bool, controls: Bool) {
            (self.trigger, self.encoding, self.controls) = (trigger, encoding, controls)
        }
    }

    /// One output's progress.
    package struct Output: Codable, Sendable {
        /// Its name, as on the command line.
        package var output: String
        /// The place of its encoder among the recording's; nil from an earlier version.
        package var encoder: Int?
        package var written: Int
        package var keyframes: Int
        package var bytes: Int
        package var lost: Int
        /// The latency from capture to write; nil if nothing was written, or the source has no clock.
        package var latency: LatencyCounts?
        /// A file's folder; nil for other outputs.
        package var folder: String?
        /// The number of receivers connected to a live output; nil for other outputs.
        package var receivers: Int?
        /// The number of receivers that have connected so far.
        package var connections: Int?
        /// Why the output is not written at present; nil while it is written, and from an earlier version.
        package var outage: Outage?
        /// Which files are removed; nil if none are, and from an earlier version.
        package var limits: Limits?

        /// Creates the progress of an output.
        package init(
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
    package init(seconds: Double, isPaused: Bool) {
        (state, self.seconds) = (isPaused ? .paused : .recording, seconds)
        (captured, droppedByDriver, corrupt, droppedByUs, paused) = (0, 0, 0, 0, 0)
        (encoded, droppedByEncoder, encoderRestarts, restarts) = ([], [], [], 0)
        (outputs, receivers) = ([], [])
    }
}

// MARK: Receivers and latencies

/// One connection of a live output, as in the report and `stats`. Property names are JSON keys.
package struct ReceiverReport: Codable, Sendable {
    /// The live output that the receiver is connected to.
    package let output: String
    package let peer: String
    package let joinedSeconds: Double
    /// When the receiver left; nil while it is connected.
    package let leftSeconds: Double?
    package let bytes: Int
    /// Access units that the receiver got completely.
    package let units: Int
    /// Access units skipped because the receiver was too slow.
    package let dropped: Int
    package let longestLagMilliseconds: Double
    /// Bytes not acknowledged when the receiver left; lost if the connection broke before they arrived.
    package let unconfirmedBytes: Int
    /// Why it left; nil while it is connected.
    package let left: String?

    /// Creates the report of one connection.
    package init(
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
package struct LatencyCounts: Codable, Sendable {
    /// The largest latency of each bucket, in seconds.
    package let bounds: [Double]
    /// The number of latencies in each bucket, and above the last bound.
    package let counts: [Int]
    /// The sum of all latencies, in seconds.
    package let sum: Double

    /// Creates a histogram, with one more count than bounds.
    package init(bounds: [Double], counts: [Int], sum: Double) {
        (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }
}
