import CamPlatform
import Capture
import Containers
import FoundationEssentials
import Glibc
import Synchronization

/// Something that happened to a recording, for the program that is started with it.
package struct RecordingEvent: Sendable, Equatable, Encodable {
    /// What happened.
    package enum Name: String, Sendable, CaseIterable {
        case motionBegan = "motion-began"
        case motionEnded = "motion-ended"
        case trigger
        case cameraLost = "camera-lost"
        case cameraBack = "camera-back"
        case diskFull = "disk-full"
        case diskFree = "disk-free"
        case recordingBegan = "recording-began"
        case recordingEnded = "recording-ended"
        case outageOver = "outage-over"

        /// The kind that a user chooses it by.
        package var kind: Kind {
            switch self {
            case .motionBegan, .motionEnded: .motion
            case .trigger: .trigger
            case .cameraLost, .cameraBack: .camera
            case .diskFull, .diskFree: .disk
            case .recordingBegan, .recordingEnded: .recording
            case .outageOver: .outage
            }
        }
    }

    /// Events that belong together: their programs run one after the other, in the order of the events.
    package enum Kind: String, Sendable, CaseIterable {
        case motion, trigger, camera, disk, recording, outage
    }

    package let event: Name
    /// When it happened.
    package let time: WallTime
    /// The device's path or the file's name; nil before any camera was found.
    package let camera: String?
    /// The output that it concerns; nil if it concerns the recording.
    package fileprivate(set) var output: String?
    /// Why it happened.
    package fileprivate(set) var reason: String?
    /// How long it lasted: the motion, the time without a picture, the outage, or the recording.
    package fileprivate(set) var seconds: Double?
    /// The pictures of the whole recording.
    package fileprivate(set) var frames: Int?

    /// An event without details.
    package init(_ event: Name, of camera: String?, at time: WallTime) {
        (self.event, self.camera, self.time) = (event, camera, time)
    }
}

// MARK: Where events come from

/// Turns what happens to a recording into events. Safe in any thread.
package final class RecordingEvents: Sendable {
    private let source: Mutex<Source>
    private let report: @Sendable (RecordingEvent) -> Void

    private struct Source {
        var camera: String?
        var isAway = false

        /// Clears `isAway`, and returns what it was.
        mutating func comesBack() -> Bool {
            defer { isAway = false }
            return isAway
        }
    }

    /// - Parameters:
    ///   - camera: the device's path or the file's name; nil for any camera.
    ///   - report: receives the events, in any thread. It must not block.
    package init(camera: String?, report: @escaping @Sendable (RecordingEvent) -> Void) {
        source = Mutex(Source(camera: camera))
        self.report = report
    }

    /// Notes that the camera is waited for before anything is recorded.
    package func noteAbsence(_ error: CaptureError) { loseCamera(error) }

    /// Notes that the recording began.
    /// - Parameter camera: the device's path or the file's name.
    package func noteBeginning(camera: String) {
        let wasAway = source.withLock {
            $0.camera = camera
            return $0.comesBack()
        }
        if wasAway { send(.cameraBack) }
        send(.recordingBegan)
    }

    /// Notes that the recording ended.
    /// - Parameter error: why it ended early.
    package func noteEnd(frames: Int, after duration: Duration, error: String?) {
        send(.recordingEnded) { ($0.frames, $0.seconds, $0.reason) = (frames, duration.seconds, error) }
    }

    /// Notes a trigger, unless it comes from motion.
    package func note(_ trigger: EventTrigger) { if trigger.isRequest { send(.trigger) } }

    /// Notes that motion began, or ended after a time.
    package func noteMotion(_ duration: Duration?) {
        send(duration == nil ? .motionBegan : .motionEnded) { $0.seconds = duration?.seconds }
    }

    /// Notes a change in the source.
    package func note(_ change: SourceEvent) {
        switch change {
        case .failed(let error): if error.isAbsence { loseCamera(error) }
        case .waiting(let error, _): loseCamera(error)
        case .resumed(let error, _, let duration, _):
            // A stream that the first retry restarted is an outage, though the camera was never away.
            if source.withLock({ $0.comesBack() }) {
                send(.cameraBack) { ($0.reason, $0.seconds) = (error.reason, duration.seconds) }
            }
            send(.outageOver) { ($0.reason, $0.seconds) = (error.reason, duration.seconds) }
        case .stoodStill(let standstill):
            send(.outageOver) { ($0.reason, $0.seconds) = ("\(change)", standstill.duration.seconds) }
        case .wrongTimes, .turnedOff, .turnedOn: break
        }
    }

    /// Notes a change in an output.
    package func note(_ change: OutputEvent) {
        guard case .outage(let output, let change) = change else { return }
        let (before, after) = (change.before, change.after)
        if let after, after.error.kind.isFullDisk, before?.error.kind.isFullDisk != true {
            send(.diskFull) { ($0.output, $0.reason) = (output, "\(after.error)") }
        }
        guard let before, after == nil else { return }
        let duration = max(.zero, .now - before.since).seconds
        if before.error.kind.isFullDisk {
            send(.diskFree) { ($0.output, $0.seconds) = (output, duration) }
        }
        send(.outageOver) { ($0.output, $0.reason, $0.seconds) = (output, "\(before.error)", duration) }
    }

    private func loseCamera(_ error: CaptureError) {
        let isNew = source.withLock { source in
            defer { source.isAway = true }
            return !source.isAway
        }
        if isNew { send(.cameraLost) { $0.reason = error.reason } }
    }

    private func send(_ name: RecordingEvent.Name, with details: (inout RecordingEvent) -> Void = { _ in }) {
        var event = RecordingEvent(name, of: source.withLock(\.camera), at: .now)
        details(&event)
        report(event)
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(inMilliseconds) / 1000 }
}

// MARK: The program's call

extension RecordingEvent: ProgramCall {
    package static var subject: ProgramSubject { .event }
    package var name: String { event.rawValue }
    /// Whoever hears of the end must have heard of the beginning.
    package var sequence: String? { event.kind.rawValue }
    package var isObsolete: Bool { false }

    package func spawn(_ launch: ProgramLaunch) throws(SpawnedProcess.Failure) -> SpawnedProcess {
        let input = try pipe()
        defer { close(input) }
        return try launch.spawn(
            [name, time.iso8601],
            ["CAMREC_EVENT=\(name)", "CAMREC_TIME=\(time.iso8601)", "CAMREC_CAMERA=\(camera ?? "")"],
            input: input)
    }

    /// Returns the end of a pipe from which the event is read. A pipe has room for 4096 bytes at least.
    private func pipe() throws(SpawnedProcess.Failure) -> Int32 {
        var ends: (reading: Int32, writing: Int32) = (-1, -1)
        let code = withUnsafeMutableBytes(of: &ends) {
            Glibc.pipe($0.assumingMemoryBound(to: Int32.self).baseAddress)
        }
        guard code == 0 else { throw SpawnedProcess.Failure(errno: errno) }
        defer { close(ends.writing) }
        // Other programs that start at this moment inherit only standard descriptors.
        guard fcntl(ends.writing, F_SETFL, O_NONBLOCK) == 0,
            let text = json, write(ends.writing, text, text.count) == text.count
        else {
            let failure = SpawnedProcess.Failure(errno: EMSGSIZE)
            close(ends.reading)
            throw failure
        }
        return ends.reading
    }

    /// The event as one line of JSON, without what is not known.
    private var json: [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) + [UInt8(ascii: "\n")] }
    }

    private enum CodingKeys: String, CodingKey { case event, time, camera, output, reason, seconds, frames }

    /// Names and reasons may be of any length, and the pipe's room is limited.
    private static let longestText = 500

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .event)
        try container.encode(time.iso8601, forKey: .time)
        for (key, text) in [(CodingKeys.camera, camera), (.output, output), (.reason, reason)] {
            let short = text.map { String(decoding: $0.utf8.prefix(Self.longestText), as: UTF8.self) }
            try container.encodeIfPresent(short, forKey: key)
        }
        try container.encodeIfPresent(seconds, forKey: .seconds)
        try container.encodeIfPresent(frames, forKey: .frames)
    }
}
