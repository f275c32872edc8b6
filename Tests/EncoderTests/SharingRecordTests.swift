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
        #expect(!record.disable(for: session), "it had read nothing")
        #expect(record.noteUse(by: session))
        #expect(record.disable(for: session), "already the first picture may be too much")
        let next = record.begin(on: Self.node)
        #expect(record.hasGivenUp(Self.node) && next.obstacle != nil)
        #expect(!record.disable(for: next.session), "the next failure is the encoder's own")
        #expect(record.begin(on: "/dev/dri/renderD129").obstacle == nil, "another GPU may read it")
    }

    @Test("of encoders that read the camera's memory together, each has that excuse")
    func blameOfSeveral() {
        let record = SharingRecord()
        let session = record.begin(on: Self.node).session
        #expect(record.noteUse(by: session))
        #expect(record.disable(for: session))
        let next = record.begin(on: Self.node).session
        #expect(record.disable(for: session), "the first one's failure is no fault of the second")
        #expect(!record.disable(for: next), "which it joins, and fails with")
    }

    @Test("encoders on two GPUs do not replace each other")
    func nodes() {
        let record = SharingRecord()
        let session = record.begin(on: Self.node).session
        let other = record.begin(on: "/dev/dri/renderD129").session
        #expect(record.noteUse(by: session) && record.noteUse(by: other))
        record.giveUp("different", by: session)
        #expect(record.hasGivenUp(Self.node) && !record.hasGivenUp("/dev/dri/renderD129"))
    }

    @Test("an encoder that was replaced, and whose thread comes back, decides nothing any more")
    func late() {
        let record = SharingRecord()
        let former = record.begin(on: Self.node).session
        let current = record.begin(on: Self.node).session
        record.giveUp("a picture that the camera has overwritten", by: former)
        #expect(!record.noteUse(by: former) && !record.disable(for: former))
        #expect(!record.hasGivenUp(Self.node) && record.noteUse(by: current))
    }

    @Test("a GPU that sees another picture is given up for good")
    func giveUp() {
        let record = SharingRecord()
        record.giveUp("different", by: record.begin(on: Self.node).session)
        #expect(record.begin(on: Self.node).obstacle == "different" && record.outcome?.reason == "different")
    }
}
