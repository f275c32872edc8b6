import Testing

@testable import Bitstream

/// Missing reference pictures, by the numbers of those that came.
@Suite struct FrameNumberTrackerTests {
    /// Which of the pictures, all of which others refer to, have some missing before them.
    private func gaps(_ numbers: [Int], modulus: Int = 16) -> [Int] {
        var tracker = FrameNumberTracker()
        return numbers.indices.filter {
            tracker.add(numbers[$0], modulus: modulus, isIDR: $0 == 0, isReference: true)
        }
    }

    @Test("every picture that is missing is noticed, wherever the numbers start over", arguments: 1..<40)
    func everyPicture(missing: Int) {
        let numbers = (0..<48).filter { $0 != missing }.map { $0 % 16 }
        #expect(gaps(numbers) == [missing])
    }

    @Test("nothing is missing where nothing is")
    func whole() { #expect(gaps((0..<100).map { $0 % 16 }).isEmpty) }

    @Test("an operation that starts the numbers again in the middle is no loss")
    func begunAnew() { #expect(gaps([0, 1, 2, 3, 4, 1, 2, 3]).isEmpty) }
}
