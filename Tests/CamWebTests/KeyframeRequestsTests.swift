import NIOCore
import Testing

@testable import CamWeb

@Suite("requests for keyframes")
struct KeyframeRequestsTests {
    private func seconds(_ seconds: Double) -> NIODeadline {
        .uptimeNanoseconds(UInt64((100 + seconds) * 1e9))
    }

    @Test("a newcomer's is sent at once, and others share it")
    func shared() {
        var requests = KeyframeRequests()
        #expect(requests.next(at: seconds(0)) == .nothing)
        requests.noteNewcomer(.messages)
        requests.noteNewcomer(.messages)
        requests.noteNewcomer(.mp4)
        #expect(requests.next(at: seconds(0)) == .ask)
        #expect(requests.next(at: seconds(0)) == .nothing)
        requests.noteAnswer()
        #expect(requests.next(at: seconds(0)) == .nothing)
    }

    @Test("however many come, one a second is sent, and one at a time")
    func rate() {
        var requests = KeyframeRequests()
        var sent: [Double] = []
        for step in 0..<300 {
            let now = Double(step) / 100
            requests.noteNewcomer(.messages)
            guard requests.next(at: seconds(now)) == .ask else { continue }
            sent.append(now)
            requests.noteNewcomer(.messages)
            #expect(requests.next(at: seconds(now + 10)) == .nothing)
            requests.noteAnswer()
        }
        #expect(sent == [0, 1, 2])
    }

    @Test("one who comes soon after a request waits for the next, unless a keyframe comes")
    func late() {
        var requests = KeyframeRequests()
        requests.noteNewcomer(.messages)
        #expect(requests.next(at: seconds(0)) == .ask)
        requests.noteKeyframe(.messages)
        requests.noteAnswer()
        requests.noteNewcomer(.messages)
        #expect(requests.next(at: seconds(0.5)) == .wait(until: seconds(1)))
        requests.noteKeyframe(.mp4)
        #expect(requests.next(at: seconds(0.6)) == .wait(until: seconds(1)))
        requests.noteKeyframe(.messages)
        #expect(requests.next(at: seconds(1)) == .nothing)
        requests.noteNewcomer(.messages)
        #expect(requests.next(at: seconds(1)) == .ask)
    }

    @Test("a stream that ended needs none")
    func end() {
        var requests = KeyframeRequests()
        requests.noteNewcomer(.messages)
        requests.noteEnd()
        #expect(requests.next(at: seconds(0)) == .nothing)
    }
}
