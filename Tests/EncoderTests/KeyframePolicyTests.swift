import Testing

@testable import Encoder

@Suite struct KeyframePolicyTests {
    /// The frames that become IDR among `count`, with keyframes requested ahead of some.
    private func idrFrames(interval: Int, of count: Int, requests: Set<Int> = []) -> [Int] {
        var policy = KeyframePolicy(interval: interval)
        return (0..<count).filter { frame in
            if requests.contains(frame) { policy.request() }
            defer { policy.advance() }
            return policy.nextKind == .idr
        }
    }

    @Test("frame 0, N, 2N … are IDR", arguments: [1, 2, 7, 30, 1000])
    func grid(interval: Int) {
        #expect(idrFrames(interval: interval, of: 100) == Array(stride(from: 0, to: 100, by: interval)))
    }

    @Test("two interleaved periods, a grid and requests, do not move each other")
    func interleaved() {
        let requests = Set(stride(from: 3, to: 60, by: 7))
        let grid = Set(stride(from: 0, to: 60, by: 5))
        #expect(idrFrames(interval: 5, of: 60, requests: requests) == grid.union(requests).sorted())
    }

    @Test("a request on the grid is one keyframe, and several requests for one frame are one")
    func coinciding() {
        #expect(idrFrames(interval: 5, of: 11, requests: [5]) == [0, 5, 10])
        var policy = KeyframePolicy(interval: 10)
        policy.advance()
        policy.request()
        policy.request()
        #expect(policy.nextKind == .idr)
        policy.advance()
        #expect(policy.nextKind == .automatic)
    }

    @Test("a frame that is not taken leaves the request and the grid as they are")
    func notTaken() {
        var policy = KeyframePolicy(interval: 10)
        policy.advance()
        policy.request()
        #expect(policy.nextKind == .idr)
        #expect(policy.nextKind == .idr)
        #expect(policy.frameNumber == 1)
    }

    @Test("after a restart the next frame is an IDR, and the grid counts what came out")
    func restart() {
        var policy = KeyframePolicy(interval: 5)
        for _ in 0..<9 { policy.advance() }
        policy.restart(after: 7)
        var idrFrames: [Int] = []
        for _ in 0..<10 {
            if policy.nextKind == .idr { idrFrames.append(policy.frameNumber) }
            policy.advance()
        }
        #expect(idrFrames == [7, 10, 15])
    }
}
