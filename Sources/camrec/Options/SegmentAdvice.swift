import Encoder
import Output
import CamCommandLine
import CamPlatform

/// Compares the requested lengths with what a stream's rate and keyframes allow: memory is bounded, and files begin
/// and end at keyframes.
struct SegmentAdvice {
    /// A stream's bit rate, as far as known, in bits per second.
    enum Rate: Equatable {
        case average(Double)
        /// Constant quality with a maximum rate.
        case atMost(Double)
        /// Constant quality at any rate, or encoded by the camera.
        case unknown

        /// - Parameter control: the encoder's; nil if the camera encodes.
        init(_ control: RateControl?) {
            if let average = control?.bitRate {
                self = .average(Double(average))
            } else if let maximum = control?.maximumBitRate {
                self = .atMost(Double(maximum))
            } else {
                self = .unknown
            }
        }
    }

    let segments: SegmentOptions
    let rate: Rate
    /// Seconds between keyframes.
    let keyframeDistance: Double

    /// Useful information.
    var notes: [String] {
        guard let ring = segments.ring else { return [] }
        switch rate {
        case .average(let bits) where ring.seconds <= Self.heldSeconds(at: bits):
            return ["ring: \(ring), some \(Self.memory(ring.seconds * bits / 8)) in memory"]
        case .atMost(let bits) where ring.seconds <= Self.heldSeconds(at: bits):
            return ["ring: \(ring), at most \(Self.memory(ring.seconds * bits / 8)) in memory"]
        default: return []
        }
    }

    /// Requests that will not be met exactly.
    var warnings: [String] { [ofRing, ofPost, ofSize].compactMap { $0 } }

    private var ofRing: String? {
        guard let ring = segments.ring else { return nil }
        switch rate {
        case .average(let bits) where ring.seconds > Self.heldSeconds(at: bits):
            return "--ring \(ring) does not fit: its \(Self.wholeMemory) of memory hold about "
                + "\(Self.text(Self.heldSeconds(at: bits))) at \(Megabits(bits)) Mbit/s; lower --bitrate for more"
        case .atMost(let bits) where ring.seconds > Self.heldSeconds(at: bits):
            return "--ring \(ring) may not fit: at the \(Megabits(bits)) Mbit/s of --max-bitrate its "
                + "\(Self.wholeMemory) of memory hold \(Self.text(Self.heldSeconds(at: bits))); lower --max-bitrate to be sure"
        case .unknown:
            return
                "--ring \(ring) may not fit: it has \(Self.wholeMemory) of memory, and how long these last is not "
                + "known, because nothing bounds the rate; give less, or a --bitrate"
        case .average, .atMost: return nil
        }
    }

    private var ofPost: String? {
        guard segments.ring != nil else { return nil }
        let post = segments.postDuration.inSeconds
        guard post < keyframeDistance else { return nil }
        return
            "--post \(TimeSpan(seconds: post)) becomes up to \(Self.text(post + keyframeDistance)): a file ends before "
            + "a keyframe, and these are \(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    private var ofSize: String? {
        guard case .bytes(let bytes) = segments.segment?.length else { return nil }
        guard case .average(let rate) = rate else {
            guard keyframeDistance > Self.longDistance else { return nil }
            return
                "--segment: a file ends with the first keyframe after its size, and these are "
                + "\(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
        }
        let least = rate * keyframeDistance / 8
        guard Double(bytes) < least else { return nil }
        return
            "--segment: files become some \(Self.megabytes(least)): each begins with a keyframe, and these are "
            + "\(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    /// More seconds between keyframes than most users expect.
    private static let longDistance = 10.0

    /// Returns the seconds that fit into a ring's memory.
    private static func heldSeconds(at bitRate: Double) -> Double {
        Double(EventRing.Plan.usualByteLimit) * 8 / max(1, bitRate)
    }

    private static let wholeMemory = memory(Double(EventRing.Plan.usualByteLimit))

    /// Formats bytes in the unit that --help uses.
    private static func memory(_ bytes: Double) -> String { "\(Int((bytes / 1_048_576).rounded(.up))) MiB" }

    private static func megabytes(_ bytes: Double) -> String {
        bytes < 1e6 ? "\(Int((bytes / 1e3).rounded(.up))) kB" : "\(Int((bytes / 1e6).rounded())) MB"
    }

    private static func text(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: decimalSeconds((seconds * 10).rounded() / 10)
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((seconds / 3600).rounded())) h"
        }
    }
}
