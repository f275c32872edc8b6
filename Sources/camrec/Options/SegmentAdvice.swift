import Output

/// What a stream's rate and keyframes make of the lengths that were asked for: memory is bounded, and files begin and
/// end at keyframes.
struct SegmentAdvice {
    let segments: SegmentOptions
    /// Bits a second, on average.
    let bitRate: Double
    /// Seconds from a keyframe to the next.
    let keyframeDistance: Double

    /// What is good to know.
    var notes: [String] {
        guard let ring = segments.ring, ring.seconds <= heldSeconds else { return [] }
        return [
            "ring: \(Self.text(ring.seconds)), some \(Self.megabytes(ring.seconds * bitRate / 8)) in memory"
        ]
    }

    /// What comes out otherwise than it was asked for.
    var warnings: [String] { [ofRing, ofPost, ofSize].compactMap { $0 } }

    private var ofRing: String? {
        guard let ring = segments.ring, ring.seconds > heldSeconds else { return nil }
        return
            "--ring \(ring) does not fit: its \(Self.megabytes(Double(EventRing.Plan.usualByteLimit))) of memory hold "
            + "some \(Self.text(heldSeconds)) at \(megabits); lower --bitrate for more"
    }

    private var ofPost: String? {
        guard segments.ring != nil else { return nil }
        let post = Double(segments.postNanoseconds) / 1e9
        guard post < keyframeDistance else { return nil }
        return
            "--post \(Self.text(post)) becomes up to \(Self.text(post + keyframeDistance)): a file ends ahead of a keyframe, "
            + "and these are \(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    private var ofSize: String? {
        guard case .bytes(let bytes) = segments.segment?.length else { return nil }
        let least = bitRate * keyframeDistance / 8
        guard Double(bytes) < least else { return nil }
        return
            "--segment: files become some \(Self.megabytes(least)): each begins with a keyframe, and these are "
            + "\(Self.text(keyframeDistance)) apart; lower --keyframe-interval"
    }

    /// Seconds that fit into a ring's memory.
    private var heldSeconds: Double { Double(EventRing.Plan.usualByteLimit) * 8 / max(1, bitRate) }

    private var megabits: String { "\((bitRate / 1e5).rounded() / 10) Mbit/s" }

    private static func megabytes(_ bytes: Double) -> String {
        bytes < 1e6 ? "\(Int((bytes / 1e3).rounded(.up))) kB" : "\(Int((bytes / 1e6).rounded())) MB"
    }

    private static func text(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: "\((seconds * 10).rounded() / 10) s"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int((seconds / 60).rounded())) min"
        default: "\(Int((seconds / 3600).rounded())) h"
        }
    }
}
