import CamPlatform

/// Limits how many responses work on the recordings of a camera at a time. The others wait for a turn, in their order.
final class WorkTurns: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    /// The responses that have a turn, and then those that wait, in their order.
    private var queues: [Share: [ObjectIdentifier]] = [:]

    /// Work that shares a limit.
    struct Share: Hashable {
        let camera: String
        let kind: Kind
        /// The address whose unread responses are limited; nil for the work on a camera's recordings.
        var client: ClientAddress?

        fileprivate var most: Int { client == nil ? kind.most : WorkTurns.mostUnread }
    }

    enum Kind: Hashable {
        case list, keyframe, piece, file
        /// Making a download, and sending one that is made.
        case span, download

        fileprivate var most: Int {
            switch self {
            case .list, .keyframe, .span: 2
            case .piece, .file, .download: 16
            }
        }
    }

    /// The most lists of a camera, and the most keyframes, that wait in memory for one address to read them.
    private static let mostUnread = 8

    /// Wakes the threads that wait for a turn, because a browser is gone.
    func wake() { monitor.withLock { monitor.signal() } }

    fileprivate func take(_ turn: WorkTurn, moved: (Int) -> Void) -> Bool {
        monitor.withLock {
            queues[turn.share, default: []].append(turn.ticket)
            while let index = queues[turn.share]?.firstIndex(of: turn.ticket), turn.isWanted() {
                moved(max(0, index + 1 - turn.share.most))
                if index < turn.share.most { return true }
                monitor.wait()
            }
            remove(turn)
            return false
        }
    }

    fileprivate func giveBack(_ turn: WorkTurn) { monitor.withLock { remove(turn) } }

    private func remove(_ turn: WorkTurn) {
        queues[turn.share]?.removeAll { $0 == turn.ticket }
        if queues[turn.share]?.isEmpty == true { queues[turn.share] = nil }
        monitor.signal()
    }
}

/// The turn of one response. A response that waits for its browser gives the turn back: a browser that does not read must
/// not keep others from the recordings.
struct WorkTurn {
    fileprivate let share: WorkTurns.Share
    fileprivate let ticket: ObjectIdentifier
    fileprivate let isWanted: () -> Bool
    private let turns: WorkTurns

    /// - Parameters:
    ///   - sink: the response; it has one turn of a share at a time.
    ///   - isWanted: whether a browser still waits for the work.
    init(
        _ share: WorkTurns.Share, of turns: WorkTurns, for sink: ResponseSink, isWanted: @escaping () -> Bool
    ) {
        (self.share, self.turns, self.isWanted) = (share, turns, isWanted)
        ticket = ObjectIdentifier(sink)
    }

    /// Waits for the turn.
    /// - Parameter moved: called with the number of responses that come first.
    /// - Returns: false if the browser has gone.
    func take(moved: (Int) -> Void = { _ in }) -> Bool { turns.take(self, moved: moved) }

    /// Lets another response work.
    func giveBack() { turns.giveBack(self) }
}
