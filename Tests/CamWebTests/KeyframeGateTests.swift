import Testing

@testable import CamWeb

@Suite("a receiver that cannot take all")
struct KeyframeGateTests {
    private typealias Picture = (isKeyframe: Bool, hasRoom: Bool)

    /// Which of the pictures pass.
    private func admitted(_ pictures: [Picture]) -> [Bool] {
        var gate = KeyframeGate()
        return pictures.map { gate.admits(isKeyframe: $0.isKeyframe, hasRoom: $0.hasRoom) }
    }

    @Test("begins at a keyframe")
    func begins() {
        #expect(admitted([(false, true), (true, true), (false, true)]) == [false, true, true])
    }

    @Test("gets nothing after a picture without room, until a keyframe with room")
    func closes() {
        let pictures: [Picture] = [
            (true, true), (false, false), (false, true), (true, false), (false, true), (true, true),
            (false, true),
        ]
        #expect(admitted(pictures) == [true, false, false, false, false, true, true])
    }
}
