import Capture
import CamControlProtocol
import CamNetworking

/// Lists or sets the camera's controls, which may take seconds.
final class CameraControlTask: ControlTask {
    private let controls: LiveControls
    /// Nil to list all.
    private let settings: [ControlSetting]?
    private let permit: TaskLimit.Permit

    init(_ controls: LiveControls, setting settings: [ControlSetting]?, permit: TaskLimit.Permit) {
        (self.controls, self.settings, self.permit) = (controls, settings, permit)
    }

    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        _ = socket.send(line: text(reply))
    }

    private var reply: ControlReply {
        do throws(CaptureError) {
            guard let settings else {
                return ControlReply(controls: try controls.all().map { ControlReport($0) })
            }
            return ControlReply(
                controls: try controls.set(settings).map { ControlReport($0.control, value: $0.granted) })
        } catch { return ControlReply(error: error.description) }
    }
}
