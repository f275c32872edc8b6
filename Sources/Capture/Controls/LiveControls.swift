import Synchronization

/// A recording camera's controls, for other threads than the one that captures.
///
/// Each use opens the node once more, as V4L2 allows: a USB camera may take seconds to answer, which must not cost a
/// picture. Any thread may use it; uses wait for each other, but the capture thread never waits for one.
public final class LiveControls: Sendable {
    private let calls: any V4L2Calls
    /// Whether the values from before are put back at the end.
    private let restores: Bool
    /// The controls that the camera's stream sets, and puts back, itself.
    private let ofStream: Set<String>
    /// Held during a use.
    private let turn = Mutex(())
    private let state = Mutex(State())

    private struct State {
        /// The camera as it is plugged in now; nil if the source is none.
        var camera: SourceIdentity?
        /// What was set, the latest last, each control once.
        var settings: [ControlSetting] = []
        /// Each control's first change.
        var changes: [ControlChange] = []

        mutating func note(_ settings: [ControlSetting], _ changes: [ControlChange]) {
            for setting in settings {
                let name = CameraControl.name(of: setting.name)
                self.settings.removeAll { CameraControl.name(of: $0.name) == name }
                self.settings.append(setting)
            }
            for change in changes where !self.changes.contains(where: { $0.control.id == change.control.id })
            {
                self.changes.append(change)
            }
        }
    }

    /// - Parameter request: what the camera is opened with.
    public convenience init(_ request: CaptureRequest) { self.init(request, calls: KernelCalls()) }

    init(_ request: CaptureRequest, calls: any V4L2Calls) {
        self.calls = calls
        restores = request.restoresControls
        ofStream = Set(request.controls.map { CameraControl.name(of: $0.name) })
    }

    /// Notes the source that records now, or under which name it came back.
    public func attach(to source: SourceIdentity) {
        state.withLock { $0.camera = source.bus == nil ? nil : source }
    }

    /// Whether the source is a camera.
    public var hasCamera: Bool { state.withLock { $0.camera != nil } }

    /// Returns every control with its value, in the driver's order.
    public func all() throws(CaptureError) -> [CameraControl] {
        try turn.withLock { _ throws(CaptureError) in try open().controls }
    }

    /// Sets controls, all or none, and keeps them set when the camera is lost and comes back.
    /// - Returns: each control as it was, with its value now.
    public func set(_ settings: [ControlSetting]) throws(CaptureError) -> [ControlChange] {
        try turn.withLock { _ throws(CaptureError) in
            let changes = try CameraControls(device: open().device).apply(settings)
            state.withLock { $0.note(settings, changes) }
            return changes
        }
    }

    /// Sets again what was set, on a camera that came back. What it no longer accepts is left out: without its picture
    /// nothing would be recorded.
    func reapply(to stream: CameraStream) {
        for setting in state.withLock({ $0.settings }) { stream.trySetting(setting) }
    }

    /// Puts back the values from before, if the request said so. Call it when the recording has ended.
    public func restore() {
        guard restores else { return }
        turn.withLock { _ in
            let changes = state.withLock { $0.changes }.filter { !ofStream.contains($0.control.name) }
            guard !changes.isEmpty, let camera = try? open() else { return }
            CameraControls(device: camera.device).restore(changes)
        }
    }

    private func open() throws(CaptureError) -> Camera {
        guard let known = state.withLock({ $0.camera }) else {
            throw CaptureError(.unsupported("only cameras have controls"), device: "")
        }
        let camera = try Camera(path: known.device, calls: calls)
        // Another camera may have the node by now.
        guard camera.identity.name == known.name, camera.identity.bus == known.bus else {
            throw CaptureError(.notFound, device: known.device)
        }
        return camera
    }
}
