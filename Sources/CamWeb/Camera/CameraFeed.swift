import CamNetworking
import CamPlatform
import Glibc
import NIOCore

/// Passes the stream of a camera from one connection with its recorder to all viewers.
final class CameraFeed: Sendable {
    let camera: Camera
    /// Its recordings; nil if their place is unknown.
    let recordings: RecordingCatalog?
    /// Sends commands to its recorder; nil if the recorder has no control socket.
    let recorder: RecorderLink?
    private let mailbox = FeedMailbox()
    private let demand: ViewerDemand
    private let audience: NIOLoopBoundBox<Audience>
    private let report: @Sendable (String) -> Void

    /// The viewers, and the state that a new viewer gets first. Belongs to the event loop.
    private struct Audience {
        var viewers: [ObjectIdentifier: any LiveViewer] = [:]
        var status = CameraStatus.connecting
        var facts: StreamFacts?
        var keyframes = KeyframeRequests()
        /// The next check whether to request a keyframe.
        var look: Scheduled<Void>?
        /// Whether the operator was told that the recorder gives no keyframes.
        var hasToldOfRefusal = false
    }

    /// How long a connection to the recorder outlives the last viewer.
    private static let linger = Duration.seconds(5)

    /// Starts the thread of the camera, which connects once there is a viewer.
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
        // The thread must not keep the feed alive: the end of the feed ends the thread.
        let reader = CameraReader(address: camera.address, demand: demand, interruption: interruption) {
            [weak self] event in self?.publish(event)
        }
        guard let thread = WorkerThread(body: { reader.run() }) else {
            throw NetworkError(.noResources(errno: EAGAIN), address: "\(camera.address)")
        }
        thread.detach()
    }

    deinit { demand.stop() }

    /// The number of viewers. Call it on the event loop.
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

    /// Requests a keyframe if one is due.
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
    /// The line for the operator; nil if there is nothing to report.
    fileprivate func line(for camera: Camera) -> String? {
        switch self {
        case .connecting, .waiting: nil
        case .live: "\(camera.name): live"
        case .unavailable(let reason): "\(camera.name): \(reason); retrying while somebody watches"
        }
    }
}

// MARK: Requests for keyframes

/// Decides when to request a keyframe for viewers that join a running stream.
///
/// There is one request at a time, and at most one a second, because a keyframe costs the recording bits. A
/// viewer that joins too soon after a request waits for the next request or keyframe.
struct KeyframeRequests: Sendable {
    /// The next step of the caller.
    enum Step: Hashable {
        case nothing
        /// Call `next` again at that time.
        case wait(until: NIODeadline)
        /// Send a request, and call `noteAnswer` when it has ended.
        case ask
    }

    /// The forms whose viewers wait for a keyframe.
    private var waiting: Set<LiveForm> = []
    private var isAsking = false
    private var earliest = NIODeadline.uptimeNanoseconds(0)

    /// The shortest time between requests.
    static let pause = TimeAmount.seconds(1)

    /// Records a new viewer.
    mutating func noteNewcomer(_ form: LiveForm) { waiting.insert(form) }

    /// Records a keyframe, which all viewers of its form get.
    mutating func noteKeyframe(_ form: LiveForm) { waiting.remove(form) }

    /// Records the end of the stream: the next one begins with a keyframe.
    mutating func noteEnd() { waiting.removeAll() }

    /// Records the end of a request.
    mutating func noteAnswer() { isAsking = false }

    /// Returns the next step; if that is a request, it counts as sent.
    mutating func next(at now: NIODeadline) -> Step {
        guard !waiting.isEmpty, !isAsking else { return .nothing }
        guard now >= earliest else { return .wait(until: earliest) }
        // All waiting viewers get the keyframe. A failed request is not repeated.
        waiting.removeAll()
        (isAsking, earliest) = (true, now + Self.pause)
        return .ask
    }
}
