import Synchronization

/// The encoders that share one input on a GPU; identifies them in a recording's records.
///
/// Any thread may use it: a thread that hung in a driver may continue after its encoder was replaced.
final class InputSession: Sendable {
    /// Its GPU's render node.
    let node: String
    private let isUsed = Atomic<Bool>(false)

    init(on node: String) { self.node = node }

    /// Whether the GPU has done something besides encoding for them, which may be why they fail.
    var mayBeBlamed: Bool { isUsed.load(ordering: .sequentiallyConsistent) }

    /// Notes such a use of the GPU.
    func noteUse() { isUsed.store(true, ordering: .sequentiallyConsistent) }
}
