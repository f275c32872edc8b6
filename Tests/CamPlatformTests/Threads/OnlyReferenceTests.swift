import Testing

@testable import CamPlatform

/// Who may write to an object that others have read.
@Suite struct OnlyReferenceTests {
    private final class Object: Sendable {}

    @Test("an object may be written to until another has it, and again when another thread has released it")
    func released() {
        var object = Object()
        #expect(holdsOnlyReference(to: &object))
        let other = UncheckedTransfer<Object?>(object)
        #expect(!holdsOnlyReference(to: &object))
        WorkerThread { other.value = nil }?.join()
        #expect(holdsOnlyReference(to: &object))
    }
}
