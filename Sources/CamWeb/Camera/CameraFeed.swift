import CamNetworking
import CamPlatform
import Glibc
import NIOCore

/// Hands a camera's stream on to all of its viewers, from one connection to the recorder.
final class CameraFeed: Sendable {
    let camera: Camera
    /// Its recordings; nil if nobody knows where they are.
    let recordings: RecordingCatalog?
    /// Asks its recorder; nil if that has no control socket.
    let recorder: RecorderLink?
    private let mailbox = FeedMailbox()
    private let demand: ViewerDemand
    private let audience: NIOLoopBoundBox<Audience>
    private let report: @Sendable (String) -> Void

    /// Who watches, and what a newcomer must know. Belongs to the event loop.
    private struct Audience {
        var viewers: [ObjectIdentifier: any LiveViewer] = [:]
        var status = CameraStatus.connecting
        var facts: StreamFacts?
        var keyframes = KeyframeRequests()
        /// The next look whether to ask for a keyframe.
        var look: Scheduled<Void>?
        /// Whether the operator knows that the recorder gives no keyframes.
        var hasToldOfRefusal = false
    }

    /// How long a connection to the recorder outlives the last viewer.
    private static let linger = Duration.seconds(5)

    /// Starts the camera's thread, which connects once there is a viewer.
    /// - Parameter report: called with lines for the operator.
    init(
        _ camera: Camera, on eventLoop: any EventLoop, interruption: Interruption,
        report: @escaping @Sendable (String) -> Void
    ) throws(NetworkError) {
        self.camera = camera
        recordings = camera.recordings.map(RecordingCatalog.init)
        recorder = camera.control.map { RecorderLink($0, on: eventLoop) }
        self.report = report
        demand = try ViewerDemand(linger: Self.linger)
        audience = .makeBoxSendingValue(Audience(), eventLoop: eventLoop)
        // The thread must not keep the feed alive, whose end ends the thread.
        let reader = CameraReader(address: camera.address, demand: demand, interruption: interruption) {
            [weak self] event in self?.publish(event)
        }
        guard let thread = WorkerThread(body: { reader.run() }) else {
            throw NetworkError(.noResources(errno: EAGAIN), address: "\(camera.address)")
        }
        thread.detach()
    }

    deinit { demand.stop() }

    /// How many watch. Call it on the event loop.
    var viewerCount: Int { audience.value.viewers.count }

    /// Ends the stream for good: the camera is gone. Call it on the event loop.
    func end() {
        demand.stop()
        let gone = CameraStatus.unavailable("this camera is gone; its recorder no longer offers a stream")
        audience.value.status = gone
        for viewer in audience.value.viewers.values { viewer.take(.status(gone)) }
    }

    /// Adds a viewer. Call it on the event loop.
    func join(_ viewer: any LiveViewer) {
        audience.value.viewers[ObjectIdentifier(viewer)] = viewer
        demand.viewerJoined(viewer.form)
        viewer.take(.status(audience.value.status))
        if let facts = audience.value.facts { viewer.take(.facts(facts)) }
        // A new connection to the recorder begins with a keyframe in any case.
        guard case .live = audience.value.status else { return }
        audience.value.keyframes.noteNewcomer(viewer.form)
        requestKeyframe()
    }

    /// Removes a viewer, if it is one. Call it on the event loop.
    func leave(_ viewer: any LiveViewer) {
        guard audience.value.viewers.removeValue(forKey: ObjectIdentifier(viewer)) != nil else { return }
        demand.viewerLeft(viewer.form)
    }

    /// Asks for a keyframe if it is time for that.
    private func requestKeyframe() {
        guard let control = camera.control else { return }
        let loop = audience.eventLoop.assumeIsolated()
        switch audience.value.keyframes.next(at: .now()) {
        case .nothing: break
        case .wait(let deadline):
            guard audience.value.look == nil else { return }
            audience.value.look = loop.scheduleTask(deadline: deadline) { [weak self] in
                self?.audience.value.look = nil
                self?.requestKeyframe()
            }
        case .ask:
            ControlRequest.send("keyframe", to: control, on: audience.eventLoop)
                .assumeIsolated().whenComplete { [weak self] in self?.noteAnswer($0) }
        }
    }

    private func noteAnswer(_ result: Result<ControlRequest.Answer, any Error>) {
        audience.value.keyframes.noteAnswer()
        switch result {
        case .success: audience.value.hasToldOfRefusal = false
        case .failure(let error):
            if !audience.value.hasToldOfRefusal {
                let reason = (error as? ControlRequest.Failure)?.reason ?? "\(error)"
                report("\(camera.name): no keyframe for a new viewer, who waits for the next: \(reason)")
            }
            audience.value.hasToldOfRefusal = true
        }
        requestKeyframe()
    }

    private func publish(_ event: FeedEvent) {
        guard mailbox.post(event) else { return }
        audience.eventLoop.execute { [self] in deliver() }
    }

    private func deliver() {
        for event in mailbox.takeAll() {
            note(event)
            for viewer in audience.value.viewers.values { viewer.take(event) }
        }
    }

    private func note(_ event: FeedEvent) {
        switch event {
        case .status(let status):
            guard status != audience.value.status else { return }
            audience.value.status = status
            if status != .live { audience.value.keyframes.noteEnd() }
            if let line = status.line(for: camera) { report(line) }
        case .facts(let facts): audience.value.facts = facts
        case .picture(let picture):
            if picture.isKeyframe { audience.value.keyframes.noteKeyframe(picture.form) }
        case .impossible: break
        }
    }
}

extension CameraStatus {
    /// What the operator should know; nil for nothing.
    fileprivate func line(for camera: Camera) -> String? {
        switch self {
        case .connecting, .waiting: nil
        case .live: "\(camera.name): live"
        case .unavailable(let reason): "\(camera.name): \(reason); retrying while somebody watches"
        }
    }
}

// MARK: Requests for keyframes

/// Decides when to ask a recorder for a keyframe, for viewers that join a stream that runs already.
///
/// However many join, there is one request at a time, and at most one a second: a keyframe costs the recording bits. A
/// viewer that joins too soon after a request waits for the next one, unless a keyframe comes first.
struct KeyframeRequests: Sendable {
    /// What to do now.
    enum Step: Hashable {
        case nothing
        /// Look again then.
        case wait(until: NIODeadline)
        /// Ask, and call `noteAnswer` when that has ended.
        case ask
    }

    /// The forms in which somebody waits for a keyframe.
    private var waiting: Set<LiveForm> = []
    private var isAsking = false
    private var earliest = NIODeadline.uptimeNanoseconds(0)

    /// The shortest time between requests.
    static let pause = TimeAmount.seconds(1)

    /// Notes that a viewer joined.
    mutating func noteNewcomer(_ form: LiveForm) { waiting.insert(form) }

    /// Notes a keyframe, which all viewers of its form get.
    mutating func noteKeyframe(_ form: LiveForm) { waiting.remove(form) }

    /// Notes that the stream ended: the next one begins with a keyframe.
    mutating func noteEnd() { waiting.removeAll() }

    /// Notes that a request has ended.
    mutating func noteAnswer() { isAsking = false }

    /// Returns what to do now, and counts a request as begun.
    mutating func next(at now: NIODeadline) -> Step {
        guard !waiting.isEmpty, !isAsking else { return .nothing }
        guard now >= earliest else { return .wait(until: earliest) }
        // Its keyframe is for all who wait now. One that fails is not repeated.
        waiting.removeAll()
        (isAsking, earliest) = (true, now + Self.pause)
        return .ask
    }
}
