import CamNetworking
import CamPlatform
import Glibc

/// A change in a live output's receivers. `description` is one line.
package enum LiveEvent: Sendable, Equatable, CustomStringConvertible {
    case joined(peer: String)
    case left(ReceiverStatistics)
    /// A receiver was too slow and skips to the next IDR.
    case overflowed(peer: String)
    /// The limit on receivers is reached.
    case refused(peer: String, limit: Int)
    /// The limit on receivers from its address is reached.
    case refusedAddress(peer: String, limit: Int)
    /// The remaining descriptors are for files, cameras and GPUs.
    case refusedForFiles(peer: String)
    /// A receiver tries to connect, but the system has no descriptor or memory for it.
    case exhausted(errno: Int32)
    /// No receiver answers the output's connection attempts; it retries.
    case unreachable(NetworkError)
    /// This many events were not reported, because they came too fast.
    case suppressed(Int)

    package var description: String { description(after: "") }

    /// The description without the output's name, for text that already begins with the name.
    package func description(after name: String) -> String {
        switch self {
        case .joined(let peer): "\(peer) joined"
        case .left(let statistics):
            "\(statistics.peer) left after \(statistics.units) \(statistics.units == 1 ? "frame" : "frames"), \(statistics.dropped) dropped: "
                + "\(statistics.departure?.description ?? "unknown")" + Self.uncertainty(of: statistics)
        case .overflowed(let peer): "\(peer) is too slow; it gets nothing until the next keyframe"
        case .refused(let peer, let limit):
            "\(peer) was refused: there are \(limit) receivers already; see --max-clients"
        case .refusedAddress(let peer, let limit):
            "\(peer) was refused: there are \(limit) receivers from its address already; see --max-clients-per-address"
        case .refusedForFiles(let peer):
            "\(peer) was refused: too many open files: the rest is for the recording's files, the camera and the GPU; raise "
                + "'ulimit -n'"
        case .exhausted(let code):
            "a receiver has to wait: \(String(cString: strerror(code))); raise 'ulimit -n'"
        case .unreachable(let error):
            "no receiver takes the stream (\(error.description(after: name))); retrying"
        case .suppressed(let count): "\(count) more receiver events"
        }
    }

    private static func uncertainty(of statistics: ReceiverStatistics) -> String {
        guard statistics.departure != .ended, statistics.unconfirmedBytes > 0 else { return "" }
        return "; the last \(statistics.unconfirmedBytes) bytes may not have arrived"
    }
}

// MARK: - Limiting the rate

/// Limits the rate of reported events: a burst, then a few per second. Other events are counted, and the
/// count is reported as soon as the rate allows. Used by one thread.
///
/// Receivers that come and go have a rate of their own: however many they are, they do not hide why others are refused.
struct EventThrottle {
    private let handler: @Sendable (LiveEvent) -> Void
    private var movements = Credit()
    private var problems = Credit()
    private var suppressed = 0

    init(_ handler: @escaping @Sendable (LiveEvent) -> Void) { self.handler = handler }

    /// Reports an event, or counts it.
    mutating func report(_ event: LiveEvent, at now: Instant) {
        let isReported =
            switch event {
            case .joined, .left: movements.take(at: now)
            default: problems.take(at: now)
            }
        guard isReported else {
            suppressed += 1
            return
        }
        flush()
        handler(event)
    }

    /// Reports how many events were left out.
    mutating func flush() {
        guard suppressed > 0 else { return }
        handler(.suppressed(suppressed))
        suppressed = 0
    }

    private struct Credit {
        private static let burst = 20.0
        private static let perSecond = 2.0

        private var amount = Self.burst
        private var lastTime: Instant?

        mutating func take(at now: Instant) -> Bool {
            if let lastTime {
                amount = min(Self.burst, amount + (now - lastTime).inSeconds * Self.perSecond)
            }
            lastTime = now
            guard amount >= 1 else { return false }
            amount -= 1
            return true
        }
    }
}
