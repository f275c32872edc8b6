import Synchronization

/// The encoders that take the pictures of one input on a GPU, as records of a recording know them.
///
/// Safe to use from any thread: one that hangs in a driver may come back when another has taken its place.
final class InputSession: Sendable {
    /// Its GPU's render node.
    let node: String
    private let mayFail = Atomic<Bool>(false)

    init(on node: String) { self.node = node }

    /// Whether the GPU does or did something for them that may be why they fail.
    var mayBeBlamed: Bool { mayFail.load(ordering: .sequentiallyConsistent) }

    func noteUse() { mayFail.store(true, ordering: .sequentiallyConsistent) }
}
