import Testing

@testable import Encoder

/// What a recording learns about GPUs that read the camera's memory.
@Suite struct SharingRecordTests {
    private static let node = "/dev/dri/renderD128"

    @Test("counts pictures, and what the processor read of them")
    func counts() {
        let record = SharingRecord()
        #expect(record.outcome == nil, "no GPU, no outcome")
        #expect(record.begin(on: Self.node) == nil)
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
        _ = record.begin(on: Self.node)
        #expect(!record.blame(), "it had read nothing")
        record.countShared(.gpu)
        #expect(record.blame())
        #expect(record.hasGivenUp(Self.node) && record.begin(on: Self.node) != nil)
        #expect(!record.blame(), "the next failure is the encoder's own")
        #expect(record.begin(on: "/dev/dri/renderD129") == nil, "another GPU may read it")
    }

    @Test("a GPU that sees another picture is given up for good")
    func giveUp() {
        let record = SharingRecord()
        _ = record.begin(on: Self.node)
        record.giveUp(Self.node, "different")
        #expect(record.begin(on: Self.node) == "different" && record.outcome?.reason == "different")
    }
}
