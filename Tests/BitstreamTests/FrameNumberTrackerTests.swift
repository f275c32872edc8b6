import Testing

@testable import Bitstream

/// Missing reference pictures, by the numbers of those that arrived.
@Suite struct FrameNumberTrackerTests {
    /// Which of these reference pictures have missing ones before them.
    private func gaps(_ numbers: [Int], modulus: Int = 16) -> [Int] {
        var tracker = FrameNumberTracker()
        return numbers.indices.filter {
            tracker.add(numbers[$0], modulus: modulus, isIDR: $0 == 0, isReference: true)
        }
    }

    @Test("notices every missing picture, wherever the numbers wrap", arguments: 1..<40)
    func everyPicture(missing: Int) {
        let numbers = (0..<48).filter { $0 != missing }.map { $0 % 16 }
        #expect(gaps(numbers) == [missing])
    }

    @Test("reports nothing missing if nothing is")
    func whole() { #expect(gaps((0..<100).map { $0 % 16 }).isEmpty) }

    @Test("does not take an operation that restarts the numbers for a loss")
    func begunAnew() { #expect(gaps([0, 1, 2, 3, 4, 1, 2, 3]).isEmpty) }
}
