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
    /// The stream of its smaller pictures; nil if there is none.
    let small: CameraFeed?
    private let mailbox = FeedMailbox()
    private let demand: ViewerDemand
    private let audience: NIOLoopBoundBox<Audience>
    private let report: @Sendable (String) -> Void

    /// The viewers, and the state that a new viewer gets first. Belongs to the event loop.
    private struct Audience {
        var viewers: [ObjectIdentifier: any LiveViewer] = [:]
        /// The status that the camera's thread published last.
        var status = CameraStatus.connecting
        /// The text message of the format; nil before the first.
        var facts: ByteBuffer?
        /// When the newest picture came, or since when viewers wait for one.
        var newest: NIODeadline
        /// Whether the recorder said that it is paused; it has sent no picture since.
        var isPaused = false
        /// Whether the recorder was asked and has not answered.
        var isAsking = false
        /// The next check whether pictures still come.
        var check: Scheduled<Void>?
        /// When events may be passed on again.
        var restEnd = NIODeadline.uptimeNanoseconds(0)
        var keyframes = KeyframeRequests()
        /// The next check whether to request a keyframe.
        var look: Scheduled<Void>?
        /// Whether the operator was told that the recorder gives no keyframes.
        var hasToldOfRefusal = false

        /// The status for viewers.
        var shownStatus: CameraStatus { isPaused ? .paused : status }
    }

    /// How long a connection to the recorder outlives the last viewer.
    private static let linger = Duration.seconds(5)
    /// How often the feed checks whether pictures still come, and how long they may stay away before the recorder is
    /// asked whether it is paused.
    private static let (checkInterval, silence) = (TimeAmount.seconds(1), TimeAmount.seconds(2))
    /// The shortest time between two turns in which events are passed on. Without it, a recorder that sends without
    /// pause would leave the event loop no time to read from connections.
    private static let shortestRest = TimeAmount.microseconds(500)
    /// The rest after a turn, as a multiple of the turn's length: no camera takes more than a quarter of the loop.
    private static let restFactor = 3

    /// Starts the thread of the camera, which connects once there is a viewer.
    /// - Parameters:
    ///   - catalogs: have the catalog of its recordings.
    ///   - report: called with lines for the operator.
    init(
        _ camera: Camera, on eventLoop: any EventLoop, catalogs: RecordingCatalogs = RecordingCatalogs(),
        cancellation: CancellationFlag,
        report: @escaping @Sendable (String) -> Void
    ) throws(NetworkError) {
        self.camera = camera
        recordings = camera.recordings.map { catalogs[$0] }
        recorder = camera.control.map { RecorderLink($0, on: eventLoop) }
        small = try camera.small.map { (small) throws(NetworkError) in
            try CameraFeed(small, on: eventLoop, cancellation: cancellation, report: report)
        }
        self.report = report
        demand = try ViewerDemand(linger: Self.linger)
        audience = .makeBoxSendingValue(Audience(newest: eventLoop.now), eventLoop: eventLoop)
        // The thread must not keep the feed alive: the end of the feed ends the thread.
        let reader = CameraReader(address: camera.address, demand: demand, cancellation: cancellation) {
            [weak self] event in self?.publish(event)
        }
        guard let thread = WorkerThread(body: { reader.run() }) else {
            throw NetworkError(.noResources(errno: EAGAIN), address: "\(camera.address)")
        }
        thread.detach()
    }

    deinit { demand.stop() }

    /// The number of viewers, of the small stream as well. Call it on the event loop.
    var viewerCount: Int { audience.value.viewers.count + (small?.viewerCount ?? 0) }

    private var now: NIODeadline { audience.eventLoop.now }

    /// Ends the stream for good: the camera is gone or has other settings. Viewers are disconnected; the page then
    /// finds what has taken the camera's place. Call it on the event loop.
    func end() {
        small?.end()
        demand.stop()
        audience.value.status = .unavailable("this camera is gone; its recorder no longer offers a stream")
        audience.value.isPaused = false
        showStatus()
        for viewer in audience.value.viewers.values { viewer.end() }
    }

    /// Adds a viewer. Call it on the event loop.
    func join(_ viewer: any LiveViewer) {
        // Nobody waited for pictures before.
        if audience.value.viewers.isEmpty, audience.value.status == .connecting {
            audience.value.newest = now
        }
        audience.value.viewers[ObjectIdentifier(viewer)] = viewer
        demand.viewerJoined(viewer.form)
        viewer.take(
            .status(audience.value.shownStatus), text: statusText.bytes(seesDetails: viewer.seesDetails))
        if let facts = audience.value.facts { viewer.take(.format, text: facts) }
        viewer.flush()
        scheduleCheck()
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
        switch audience.value.keyframes.next(at: now) {
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

    /// Takes an event of the camera's thread.
    func publish(_ event: FeedEvent) {
        guard mailbox.post(event) else { return }
        audience.eventLoop.execute { [self] in deliver() }
    }

    /// Passes on what one turn may, and rests before the next turn.
    private func deliver() {
        let begin = now
        guard begin >= audience.value.restEnd else { return deliverLater() }
        let (events, hasMore) = mailbox.take()
        for event in events { pass(event) }
        flush()
        let end = now
        audience.value.restEnd = end + max(Self.shortestRest, (end - begin) * Self.restFactor)
        if hasMore { deliverLater() }
    }

    private func deliverLater() {
        audience.eventLoop.assumeIsolated().scheduleTask(deadline: audience.value.restEnd) { [self] in
            deliver()
        }
    }

    private func pass(_ event: FeedEvent) {
        switch event {
        case .status(let status): note(status)
        case .facts(let facts):
            let text = TextMessage(facts).bytes
            audience.value.facts = text
            for viewer in audience.value.viewers.values { viewer.take(.format, text: text) }
        case .picture(let picture):
            audience.value.newest = now
            setPaused(false)
            if picture.isKeyframe { audience.value.keyframes.noteKeyframe(picture.form) }
            send(.picture(picture))
        case .impossible(let form, let reason):
            send(.impossible(form, reason: reason), text: EventText(TextMessage(impossible: reason)))
        }
    }

    private func note(_ status: CameraStatus) {
        if status != audience.value.status {
            audience.value.status = status
            if status != .live { audience.value.keyframes.noteEnd() }
            if let line = status.line(for: camera) { report(line) }
        }
        // A recorder that was connected to again may still be paused.
        if status != .live { audience.value.isPaused = false }
        showStatus()
    }

    private func send(_ event: ViewerEvent, text: EventText? = nil) {
        for viewer in audience.value.viewers.values {
            viewer.take(event, text: text?.bytes(seesDetails: viewer.seesDetails))
        }
    }

    private func flush() { for viewer in audience.value.viewers.values { viewer.flush() } }

    private func showStatus() { send(.status(audience.value.shownStatus), text: statusText) }

    /// The text message of the status, with the age of the newest picture if pictures are expected.
    private var statusText: EventText {
        let status = audience.value.shownStatus
        switch status {
        case .connecting, .waiting, .live, .paused:
            return EventText(TextMessage(status, age: now - audience.value.newest))
        case .unavailable, .unplayable: return EventText(TextMessage(status))
        }
    }

    // MARK: Recorders that send nothing

    private func scheduleCheck() {
        guard audience.value.check == nil, recorder != nil else { return }
        audience.value.check = audience.eventLoop.assumeIsolated().scheduleTask(in: Self.checkInterval) {
            [weak self] in
            guard let self else { return }
            audience.value.check = nil
            guard !audience.value.viewers.isEmpty else { return }
            checkForPause()
            scheduleCheck()
        }
    }

    /// Asks a silent recorder whether it is paused.
    private func checkForPause() {
        guard let recorder, !audience.value.isAsking, [.waiting, .live].contains(audience.value.status),
            now - audience.value.newest >= Self.silence
        else { return }
        audience.value.isAsking = true
        let asked = now
        recorder.isPaused().assumeIsolated().whenComplete { [weak self] result in
            guard let self else { return }
            audience.value.isAsking = false
            // The answer may be older than the latest picture or connection.
            guard [.waiting, .live].contains(audience.value.status), audience.value.newest < asked else {
                return
            }
            setPaused((try? result.get()) ?? false)
            flush()
        }
    }

    private func setPaused(_ isPaused: Bool) {
        guard isPaused != audience.value.isPaused else { return }
        audience.value.isPaused = isPaused
        showStatus()
    }
}

extension CameraStatus {
    /// The line for the operator; nil if there is nothing to report.
    fileprivate func line(for camera: Camera) -> String? {
        switch self {
        case .connecting, .waiting, .paused: nil
        case .live: "\(camera.name): live"
        case .unavailable(let reason), .unplayable(let reason):
            "\(camera.name): \(reason); retrying while there are viewers"
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
