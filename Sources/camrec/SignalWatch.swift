import Glibc
import Output

/// Turns SIGINT, SIGTERM and SIGHUP into a descriptor that can be polled.
///
/// The signals are blocked in every thread, and one thread waits for them: nothing runs in a handler. A
/// second signal ends the process at once, for whoever will not wait for a clean end.
struct SignalWatch {
    /// Raised by the first signal.
    let interruption: Interruption

    /// To be made before any other thread.
    init?() {
        guard let interruption = Interruption() else { return nil }
        self.interruption = interruption
        signal(SIGPIPE, SIG_IGN)
        let mask = Self.mask
        withUnsafePointer(to: mask) { _ = pthread_sigmask(SIG_BLOCK, $0, nil) }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(interruption)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                SignalWatch.watch(Unmanaged<Interruption>.fromOpaque(argument).takeRetainedValue())
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return nil
        }
        pthread_detach(thread)
    }

    private static var mask: sigset_t {
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&mask, number) }
        return mask
    }

    private static func watch(_ interruption: Interruption) {
        var mask = mask
        var number: Int32 = 0
        while sigwait(&mask, &number) != 0 {}
        interruption.raise()
        while sigwait(&mask, &number) != 0 {}
        _exit(128 + number)
    }
}
