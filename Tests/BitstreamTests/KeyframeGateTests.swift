import Testing

@testable import Bitstream

/// Which pictures a gate lets pass.
@Suite struct KeyframeGateTests {
    private typealias Picture = (isKeyframe: Bool, hasRoom: Bool)

    private func admitted(_ pictures: [Picture], by gate: inout KeyframeGate) -> [Bool] {
        pictures.map { gate.admits(isKeyframe: $0.isKeyframe, hasRoom: $0.hasRoom) }
    }

    @Test("none before a keyframe, all after it, and none again once it is closed")
    func closed() {
        var gate = KeyframeGate()
        let pictures: [Picture] = [(false, true), (false, true), (true, true), (false, true), (true, true)]
        #expect(admitted(pictures, by: &gate) == [false, false, true, true, true])
        gate.close()
        #expect(!gate.isOpen)
        #expect(admitted([(false, true), (true, true)], by: &gate) == [false, true])
    }

    @Test("none after a picture without room, until a keyframe with room")
    func withoutRoom() {
        var gate = KeyframeGate()
        let pictures: [Picture] = [
            (true, true), (false, false), (false, true), (true, false), (false, true), (true, true),
            (false, true),
        ]
        #expect(admitted(pictures, by: &gate) == [true, false, false, false, false, true, true])
    }
}
