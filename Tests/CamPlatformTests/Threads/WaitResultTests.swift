import Glibc
import Testing

@testable import CamPlatform

/// Waiting for descriptors.
@Suite struct WaitResultTests {
    @Test("ends at once where the system refuses to wait, instead of trying forever")
    func refused() async {
        // The limit applies to a whole process, so it runs in its own.
        await #expect(processExitsWith: .success) {
            // Ends a process that tries forever.
            alarm(5)
            // poll(2) fails with EINVAL if it is given more descriptors than a process may have.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let result = WaitResult.wait(for: STDIN_FILENO, unless: nil, until: .now + .seconds(3600))
            guard case .interrupted = result else { exit(1) }
        }
    }
}
