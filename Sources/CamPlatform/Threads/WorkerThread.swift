import Glibc

/// A thread that runs one function. It must be joined or detached.
public struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts the thread, or returns nil if the system allows no more.
    public init?(body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackSize)
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return nil
        }
        self.thread = thread
    }

    /// Less than a huge page, which a kernel set to use them always would put beneath each stack at its first use
    /// (Linux, admin-guide/mm/transhuge), and enough for what drivers compile in our threads.
    private static let stackSize = (2 << 20) - (64 << 10)

    /// Lets the function run to its end without being joined.
    public consuming func detach() { pthread_detach(thread) }

    /// Waits until the function has returned.
    public consuming func join() { pthread_join(thread, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
