import CamPlatform
import NIOHTTP1

/// Makes responses from recordings on threads, one for each response: the disk never delays live pictures, and one that
/// hangs delays no other camera. Of each camera a few responses read at a time, the others wait for their turn; waiting
/// for a browser takes no turn.
final class RecordingWorkers: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    /// The responses that have a thread.
    private var running: [ObjectIdentifier: Running] = [:]
    private let turns = WorkTurns()
    private let spans: SpanStore

    /// A response that has a thread.
    private struct Running {
        let client: ClientAddress
        let camera: String
        /// Whether its browser is gone; a thread that waits for a hung disk cannot end.
        var isGivenUp = false
    }

    /// The most responses that an address waits for at a time.
    private static let mostForAddress = 128
    /// The most of them for one camera, with those that the address has given up and whose threads have not ended: a camera
    /// whose disk hangs leaves room for the others. It is more than all turns of a camera.
    private static let mostForCamera = 64

    /// - Parameter scratchFolder: where clips are made, in files without names.
    init(scratchFolder: String) { spans = SpanStore(scratchFolder: scratchFolder) }

    /// The number of threads.
    var threadCount: Int { monitor.withLock { running.count } }

    /// Starts making a response.
    /// - Parameter client: the address for which it is counted.
    func start(
        _ request: RecordingRequest, from client: ClientAddress, _ sink: ResponseSink
    ) throws(Refusal) {
        let id = ObjectIdentifier(sink)
        let refusal = monitor.withLock { admit(id, Running(client: client, camera: request.camera)) }
        if let refusal { throw refusal }
        sink.whenClosed { [weak self] in self?.noteGivenUp(id) }
        let thread = WorkerThread { [self] in
            defer { leave(id) }
            perform(request, from: client, sink)
        }
        guard let thread else {
            leave(id)
            throw .busy
        }
        thread.detach()
    }

    private func admit(_ id: ObjectIdentifier, _ response: Running) -> Refusal? {
        let own = running.values.filter { $0.client == response.client }
        guard own.count(where: { !$0.isGivenUp }) < Self.mostForAddress else { return .busy }
        guard own.count(where: { $0.camera == response.camera }) < Self.mostForCamera else {
            return .busyCamera
        }
        running[id] = response
        return nil
    }

    private func noteGivenUp(_ id: ObjectIdentifier) {
        monitor.withLock { running[id]?.isGivenUp = true }
        turns.wake()
    }

    private func leave(_ id: ObjectIdentifier) { monitor.withLock { running[id] = nil } }

    private func perform(_ request: RecordingRequest, from client: ClientAddress, _ sink: ResponseSink) {
        let response = RecordingResponse(request, sink)
        do throws(Refusal) {
            switch request.target {
            case .list(let time):
                try make(.list, request, from: client, sink, { response.madeList(time) }, response.send)
            case .span(let time): try send(time, request, sink, response)
            case .spanState(let time): response.state(try spans.state(of: time, for: request))
            case .file(let id):
                try inTurn(.file, request, sink) { (turn) throws(Refusal) in try response.file(id, turn) }
            case .piece(let id, let at, let length):
                try inTurn(.piece, request, sink) { (turn) throws(Refusal) in
                    try response.piece(id, at: at, length: length, turn)
                }
            case .keyframe(let id, let at):
                let work = { () throws(Refusal) in try response.madeKeyframe(id, at: at) }
                try make(.keyframe, request, from: client, sink, work, response.send)
            }
        } catch { response.fail(error) }
    }

    /// Makes a whole response in a turn, and sends it without one. Until it is read it stays in memory, so each address has
    /// a few of these at a time.
    private func make(
        _ kind: WorkTurns.Kind, _ request: RecordingRequest, from client: ClientAddress, _ sink: ResponseSink,
        _ work: () throws(Refusal) -> RecordingResponse.Made, _ send: (RecordingResponse.Made) -> Void
    ) throws(Refusal) {
        let share = WorkTurns.Share(camera: request.camera, kind: kind, client: client)
        let unread = WorkTurn(share, of: turns, for: sink) { !sink.isGone }
        guard unread.take() else { return }
        defer { unread.giveBack() }
        var made: RecordingResponse.Made?
        try inTurn(kind, request, sink) { (_) throws(Refusal) in made = try work() }
        if let made { send(made) }
    }

    private func send(
        _ time: Range<WallTime>, _ request: RecordingRequest, _ sink: ResponseSink,
        _ response: RecordingResponse
    ) throws(Refusal) {
        let span = try spans.span(time, for: request, sink) { (job) throws(Refusal) in
            try inTurn(.span, request, sink, isWanted: { job.isWanted }, moved: { job.position = $0 }) {
                (_) throws(Refusal) in try job.make()
            }
        }
        guard let span else { return }
        try inTurn(.download, request, sink) { response.span(span, $0) }
    }

    /// Waits for a turn and does the work, unless all browsers that asked for it are gone.
    /// - Parameter moved: called with the number of responses that come first.
    private func inTurn(
        _ kind: WorkTurns.Kind, _ request: RecordingRequest, _ sink: ResponseSink,
        isWanted: (() -> Bool)? = nil, moved: (Int) -> Void = { _ in },
        _ work: (WorkTurn) throws(Refusal) -> Void
    ) throws(Refusal) {
        let share = WorkTurns.Share(camera: request.camera, kind: kind)
        let turn = WorkTurn(share, of: turns, for: sink, isWanted: isWanted ?? { !sink.isGone })
        guard turn.take(moved: moved) else { return }
        defer { turn.giveBack() }
        try work(turn)
    }
}

// MARK: Requests

/// An admitted request for the recordings of a camera.
struct RecordingRequest: Sendable {
    let camera: String
    let catalog: RecordingCatalog
    let target: RecordingTarget
    /// The rights of the client.
    let rights: Rights
    /// The host and port to which the browser connected.
    let authority: String
    /// The value of `Range`; nil if there are none or several.
    let range: String?
    /// The value of `If-Range`.
    let condition: String?
    /// Whether only the headers are wanted.
    var isHead = false
}
