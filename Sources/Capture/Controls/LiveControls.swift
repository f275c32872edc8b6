import Synchronization
import CamPlatform

/// A recording camera's controls, for threads other than the one that captures.
///
/// Each use opens the node once more, as V4L2 allows: a USB camera may take seconds to answer, which must not
/// cost a picture. Any thread may use it. Uses wait for each other, for a limited time because a driver may
/// hang; the capture thread never waits for one.
public final class LiveControls: Sendable {
    private let calls: any V4L2Calls
    /// Whether to restore the previous values at the end.
    private let restores: Bool
    /// The controls that the camera's stream itself sets and restores.
    private let ofStream: [ControlSetting]
    private let turn = TimedLock()
    private let state = Mutex(State())

    /// How long to wait for an earlier use.
    private static let patience = Duration.seconds(10)

    private struct State {
        /// The camera as it is plugged in now; nil if the source is not a camera.
        var camera: SourceIdentity?
        /// The settings made so far, the latest last, each control once.
        var settings: [ControlSetting] = []
        /// Each control's first change.
        var changes: [ControlChange] = []

        mutating func note(_ settings: [ControlSetting], _ changes: [ControlChange]) {
            let controls = changes.map(\.control)
            for setting in settings {
                // A control may have several names.
                let name = CameraControl.named(setting.name, in: controls)?.name ?? setting.name
                self.settings.removeAll { $0.name == name }
                self.settings.append(ControlSetting(name: name, value: setting.value))
            }
            for change in changes where !self.changes.contains(where: { $0.control.id == change.control.id })
            {
                self.changes.append(change)
            }
        }
    }

    /// Creates the controls of a camera that `attach` names.
    /// - Parameter request: what the camera is opened with.
    public convenience init(_ request: CaptureRequest) { self.init(request, calls: KernelCalls()) }

    init(_ request: CaptureRequest, calls: any V4L2Calls) {
        self.calls = calls
        restores = request.restoresControls
        ofStream = request.controls
    }

    /// Records the source of the recording, and its new path when it was reconnected.
    public func attach(to source: SourceIdentity) {
        state.withLock { $0.camera = source.bus == nil ? nil : source }
    }

    /// Whether the source is a camera.
    public var hasCamera: Bool { state.withLock { $0.camera != nil } }

    /// Returns every control with its value, in the driver's order.
    public func all() throws(CaptureError) -> [CameraControl] {
        try use { (camera) throws(CaptureError) in camera.controls }
    }

    /// Sets controls, all or none. They are set again when the camera is reconnected.
    /// - Returns: each control as it was, with its value now.
    public func set(_ settings: [ControlSetting]) throws(CaptureError) -> [ControlChange] {
        try use { (camera) throws(CaptureError) in
            let changes = try CameraControls(device: camera.device).apply(settings)
            state.withLock { $0.note(settings, changes) }
            return changes
        }
    }

    /// Sets the controls of a reconnected camera again. Skips settings that the camera no longer accepts:
    /// they must not prevent the recording.
    func reapply(to stream: CameraStream) { stream.setPossibleControls(state.withLock { $0.settings }) }

    /// Restores the previous values, if the request asks for that. Call it after the recording.
    /// - Returns: false if the camera is absent, or does not answer.
    public func restore() -> Bool {
        let changes = state.withLock { $0.changes }.filter { change in
            !ofStream.contains { CameraControl.named($0.name, in: [change.control]) != nil }
        }
        guard restores, !changes.isEmpty else { return true }
        do throws(CaptureError) {
            try use { (camera) throws(CaptureError) in CameraControls(device: camera.device).restore(changes)
            }
            return true
        } catch { return false }
    }

    private func use<Result>(
        _ body: (borrowing Camera) throws(CaptureError) -> Result
    ) throws(CaptureError) -> Result {
        guard let known = state.withLock({ $0.camera }) else {
            throw CaptureError(.unsupported("only cameras have controls; record a camera"), device: "")
        }
        guard turn.take(until: .now + Self.patience) else {
            throw CaptureError(
                .unsupported(
                    "its driver has not answered an earlier request; try again, or unplug the camera"),
                device: known.device)
        }
        defer { turn.giveBack() }
        return try body(try open(known))
    }

    private func open(_ known: SourceIdentity) throws(CaptureError) -> Camera {
        let camera = try Camera(path: known.device, calls: calls)
        // The node may belong to another camera now.
        guard camera.identity.name == known.name, camera.identity.bus == known.bus else {
            throw CaptureError(.notFound, device: known.device)
        }
        return camera
    }
}
