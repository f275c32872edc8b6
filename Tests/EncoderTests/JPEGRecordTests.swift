import Testing

@testable import Encoder

/// What a recording learns about GPUs that decode Motion JPEG.
@Suite struct JPEGRecordTests {
    private static let node = "/dev/dri/renderD128"

    @Test("of encoders whose GPU decoded JPEG for them, each has that excuse")
    func blame() {
        let record = JPEGRecord()
        let session = record.begin(on: Self.node).session
        record.countCPU()
        #expect(!record.disable(for: session), "the GPU had decoded nothing")
        record.countGPU(for: session)
        #expect(record.disable(for: session))
        let next = record.begin(on: Self.node)
        #expect(
            next.obstacle != nil && !record.disable(for: next.session),
            "the next failure is the encoder's own")
        #expect(record.disable(for: session), "the first one's failure is no fault of the second")
        #expect(record.outcome?.gpuPictures == 1 && record.outcome?.cpuPictures == 1)
    }
}
