import Testing

@testable import Encoder

/// What a recording learns about GPUs that read the camera's memory.
@Suite struct SharingRecordTests {
    private static let node = "/dev/dri/renderD128"

    @Test("counts pictures, and what the processor read of them")
    func counts() {
        let record = SharingRecord()
        #expect(record.outcome == nil, "no GPU, no outcome")
        #expect(record.begin(on: Self.node).obstacle == nil)
        record.countCompared(bytes: 100)
        record.countShared(.gpu)
        record.countShared(.camera)
        record.countCopied(bytes: 50)
        record.note("why")
        let outcome = record.outcome
        #expect(outcome?.sharedPictures == 2 && outcome?.copiedPictures == 1 && outcome?.bytesRead == 150)
        #expect(outcome?.memory == .camera && outcome?.reason == "why")
    }

    @Test("an encoder that failed while it read the camera's memory is opened again without")
    func blame() {
        let record = SharingRecord()
        let session = record.begin(on: Self.node).session
        #expect(record.blame() == nil, "it had read nothing")
        #expect(record.noteUse(by: session))
        #expect(record.blame() == Self.node, "already the first picture may be too much")
        #expect(record.hasGivenUp(Self.node) && record.begin(on: Self.node).obstacle != nil)
        #expect(record.blame() == nil, "the next failure is the encoder's own")
        #expect(record.begin(on: "/dev/dri/renderD129").obstacle == nil, "another GPU may read it")
    }

    @Test("an encoder that was replaced, and whose thread comes back, decides nothing any more")
    func late() {
        let record = SharingRecord()
        let former = record.begin(on: Self.node).session
        let current = record.begin(on: Self.node).session
        record.giveUp(Self.node, "a picture that the camera has overwritten", by: former)
        #expect(!record.noteUse(by: former) && record.blame() == nil)
        #expect(!record.hasGivenUp(Self.node) && record.noteUse(by: current))
    }

    @Test("a GPU that sees another picture is given up for good")
    func giveUp() {
        let record = SharingRecord()
        record.giveUp(Self.node, "different", by: record.begin(on: Self.node).session)
        #expect(record.begin(on: Self.node).obstacle == "different" && record.outcome?.reason == "different")
    }
}
