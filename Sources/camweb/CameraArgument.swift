import CamCommandLine
import CamWeb

/// `tcp://127.0.0.1:9982`, `door=unix:/run/camrec/door/live,control=/run/camrec/door/control`
struct CameraArgument: ExplainedArgument {
    static let requirement =
        "expected tcp://HOST:PORT or unix:PATH without ,mode=, perhaps with a name, as in door=tcp://127.0.0.1:9982, and with "
        + "the recorder's control socket, as in tcp://127.0.0.1:9982,control=/run/door"

    let camera: Camera

    init?(argument: String) {
        guard let camera = Camera(argument) else { return nil }
        self.camera = camera
    }
}
