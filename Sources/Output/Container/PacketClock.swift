import CamPlatform

/// The two times that a container stores for a picture: when it is presented and when it is decoded.
///
/// Decoding times increase strictly, and none is later than its picture's presentation. In a stream with
/// reordering by `d` pictures, picture n in decoding order is decoded when picture n − d in presentation
/// order is presented: that one has always arrived by then, so nothing waits.
struct PacketClock {
    /// In the container's ticks. The first presentation is at 0, and with reordering the first decoding times are below
    /// 0, unless the clock has a lead.
    struct Times: Equatable {
        let presentation: Int64
        let decoding: Int64
    }

    private var presentation: PresentationClock
    private var order: PresentationOrder
    /// How many decoding times below 0 are still to come.
    private var leading: Int
    private var lastDecoding = Int64.min
    /// Added to all times, in ticks, so that no decoding time is below 0. Files that share a clock need the same lead.
    let lead: Int64

    /// - Parameter hasLead: whether no time may be below 0.
    init(ticksPerSecond: Int64, stream: StreamDescription, largestStep: Duration, hasLead: Bool = false) {
        presentation = PresentationClock(
            ticksPerSecond: ticksPerSecond, frameDuration: stream.frameDuration, largestStep: largestStep)
        order = PresentationOrder(reordering: stream.reordering)
        leading = order.reordering
        lead = hasLead ? Int64(order.reordering) * presentation.frameTicks : 0
    }

    /// The clock for the next file of the same recording, whose stream may be another.
    func continued(by stream: StreamDescription) -> PacketClock {
        var next = self
        next.presentation.change(frameDuration: stream.frameDuration)
        if next.order.reordering != stream.reordering {
            next.order = PresentationOrder(reordering: stream.reordering)
        }
        return next
    }

    /// The nominal duration of a picture in ticks.
    var frameTicks: Int64 { presentation.frameTicks }

    /// The presentation time of something else that was captured, as if by the same clock; nil before the first picture.
    func time(at timestamp: Instant) -> Duration? { presentation.recordingTime(at: timestamp) }

    /// The times of the next picture in decoding order.
    /// - Parameters:
    ///   - number: its place in presentation order.
    ///   - timestamp: when it was captured, on any clock.
    mutating func times(number: Int, timestamp: Instant) -> Times {
        let time = presentation.time(number: number, timestamp: timestamp)
        var decoding = min(order.insert(time) ?? 0, time)
        if leading > 0 {
            decoding = Int64(-leading) * frameTicks
            leading -= 1
        }
        // If a stream reorders more than declared, its pictures are presented late rather than lost.
        if lastDecoding != .min { decoding = max(decoding, lastDecoding + 1) }
        lastDecoding = decoding
        return Times(presentation: max(time, decoding) + lead, decoding: decoding + lead)
    }
}

/// The clock that the transport streams of one recording share: each file continues the times of the file before it, so
/// that the files can be joined (as in RFC 8216, 3.2). Belongs to the thread that writes them.
public final class SharedPacketClock {
    /// Nil before the first file has ended.
    var clock: PacketClock?

    /// Creates the clock of a recording that has not begun.
    public init() {}
}
