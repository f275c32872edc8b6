/// Collects the syntax elements that an `RBSPReader` reads, in stream order.
///
/// A class, so that copies of a reader share one recorder. Not thread-safe.
final class SyntaxRecorder {
    /// The most bytes recorded of a message's payload.
    static let maximumRun = 4096

    private(set) var elements: [SyntaxElement] = []

    func record(_ name: String, _ subscripts: [Int?], value: Int, bitCount: Int, bitOffset: Int) {
        elements.append(
            SyntaxElement(
                name: name, subscripts: subscripts.compactMap { $0 }, value: value, bitCount: bitCount,
                bitOffset: bitOffset))
    }
}
