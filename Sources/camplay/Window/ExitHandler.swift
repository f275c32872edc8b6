import Glibc

/// Does the remaining work if a library ends the process: Xlib calls `exit` when its display is gone
/// (XSetIOErrorHandler(3)).
final class ExitHandler {
    private var body: (() -> Void)?

    /// - Parameter body: called by the thread that calls `exit`, unless the handler was disarmed.
    init(_ body: @escaping () -> Void) {
        self.body = body
        // glibc's on_exit passes an argument, unlike `atexit`. The handler lives as long as the process.
        on_exit(
            { _, argument in
                guard let argument else { return }
                let handler = Unmanaged<ExitHandler>.fromOpaque(argument).takeUnretainedValue()
                handler.body.take()?()
            }, Unmanaged.passRetained(self).toOpaque())
    }

    /// Disarms the handler, because nothing remains to be done.
    func disarm() { body = nil }
}
