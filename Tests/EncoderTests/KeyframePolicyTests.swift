import Bitstream
import Testing
import CamPlatform

@testable import Encoder

@Suite struct KeyframePolicyTests {
    private static let frameDuration = Duration.nanoseconds(33_333_333)

    /// The frames that become IDR among `count` at 30 a second, with keyframes requested before some.
    private func idrFrames(interval: KeyframeInterval, of count: Int, requests: Set<Int> = []) -> [Int] {
        idrFrames(interval, at: (0..<count).map { .start + .seconds($0) / 30 }, requests: requests)
    }

    /// The same of frames captured at these times.
    private func idrFrames(
        _ interval: KeyframeInterval, at times: [Instant], requests: Set<Int> = []
    ) -> [Int] {
        var policy = KeyframePolicy(interval: interval)
        return times.indices.filter { frame in
            if requests.contains(frame) { policy.request() }
            let kind = policy.kind(at: times[frame], frameDuration: Self.frameDuration)
            policy.advance(kind, at: times[frame])
            return kind == .idr
        }
    }

    @Test("frame 0, N, 2N … are IDR", arguments: [1, 2, 7, 30, 1000])
    func grid(interval: Int) {
        #expect(
            idrFrames(interval: .frames(interval), of: 100) == Array(stride(from: 0, to: 100, by: interval)))
    }

    @Test("the grid and periodic requests do not affect each other")
    func interleaved() {
        let requests = Set(stride(from: 3, to: 60, by: 7))
        let grid = Set(stride(from: 0, to: 60, by: 5))
        #expect(
            idrFrames(interval: .frames(5), of: 60, requests: requests) == grid.union(requests).sorted())
    }

    @Test("a request on the grid is one keyframe, and several requests for one frame are one")
    func coinciding() {
        #expect(idrFrames(interval: .frames(5), of: 11, requests: [5]) == [0, 5, 10])
        var policy = KeyframePolicy(interval: .frames(10))
        policy.advance(.idr, at: .start + .nanoseconds(0))
        policy.request()
        policy.request()
        #expect(policy.kind(at: .start + .nanoseconds(1), frameDuration: .nanoseconds(1)) == .idr)
        policy.advance(.idr, at: .start + .nanoseconds(1))
        #expect(policy.kind(at: .start + .nanoseconds(2), frameDuration: .nanoseconds(1)) == .automatic)
    }

    @Test("a frame that is not encoded leaves the request and the grid unchanged")
    func notTaken() {
        var policy = KeyframePolicy(interval: .frames(10))
        policy.advance(.idr, at: .start + .nanoseconds(0))
        policy.request()
        #expect(policy.kind(at: .start + .nanoseconds(1), frameDuration: .nanoseconds(1)) == .idr)
        #expect(policy.kind(at: .start + .nanoseconds(1), frameDuration: .nanoseconds(1)) == .idr)
        #expect(policy.frameNumber == 1)
    }

    @Test("after a restart the next frame is an IDR, and the grid counts encoded frames")
    func restart() {
        var policy = KeyframePolicy(interval: .frames(5))
        for frame in 0..<9 { policy.advance(.automatic, at: .start + .nanoseconds(frame)) }
        policy.restart(after: 7)
        var idrFrames: [Int] = []
        for time in 9..<19 {
            let kind = policy.kind(at: .start + .nanoseconds(time), frameDuration: .nanoseconds(1))
            if kind == .idr { idrFrames.append(policy.frameNumber) }
            policy.advance(kind, at: .start + .nanoseconds(time))
        }
        #expect(idrFrames == [7, 10, 15])
    }

    @Test("a time counts capture: the first frame that long after a keyframe is one, whatever was lost")
    func time() {
        #expect(idrFrames(interval: .seconds(1), of: 100) == [0, 30, 60, 90])
        // Two of three frames are lost, and then all for 2.5 s.
        var times = (0..<20).map { Instant.start + .milliseconds($0 * 100) }
        times += (0..<20).map { .start + .milliseconds(4400 + $0 * 100) }
        #expect(idrFrames(.seconds(1), at: times) == [0, 10, 20, 30])
        // An extra keyframe restarts the time.
        #expect(idrFrames(interval: .seconds(1), of: 100, requests: [40]) == [0, 30, 40, 70])
    }

    @Test("a clock with milliseconds of jitter lengthens no interval by a frame")
    func jitter() {
        let times = (0..<300).map { frame in
            let early = frame * 7919 % 13 - 6
            return Instant.start + .nanoseconds(frame * 33_333_333 + early * 500_000)
        }
        #expect(idrFrames(.seconds(1), at: times) == Array(stride(from: 0, to: 300, by: 30)))
    }

    @Test("a clock that goes back causes one keyframe at most, and keeps the distance from there")
    func backwards() {
        let times = (0..<10).map { Instant.start + .milliseconds(10_000 + $0 * 100) }
        let after = (0..<25).map { Instant.start + .milliseconds($0 * 100) }
        #expect(idrFrames(.seconds(1), at: times + after) == [0, 10, 20, 30])
    }

    @Test("frames or a time: whichever comes first")
    func either() {
        #expect(idrFrames(interval: .frames(50, orSeconds: 1), of: 120) == [0, 30, 50, 80, 100])
        #expect(idrFrames(interval: .frames(20, orSeconds: 1), of: 70) == [0, 20, 40, 60])
    }
}
