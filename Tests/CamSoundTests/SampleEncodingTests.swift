import Testing

@testable import CamSound

/// Samples of other sizes than ours.
@Suite struct SampleEncodingTests {
    private func convert<Sample>(_ samples: [Sample], _ encoding: SampleEncoding) -> [Int16] {
        let target = UnsafeMutableBufferPointer<Int16>.allocate(
            capacity: samples.count * MemoryLayout<Sample>.size / encoding.sampleSize)
        defer { target.deallocate() }
        samples.withUnsafeBytes { encoding.convert($0, into: target) }
        return Array(target)
    }

    @Test("32 bits are rounded, and do not overflow")
    func int32() {
        let samples = [0, 0x7FFF, 0x8000, 0x1_0000, -0x8000, -0x8001, Int32.max, .min, 0x1234_5678]
        #expect(convert(samples, .int32) == [0, 0, 1, 1, 0, -1, .max, .min, 0x1234])
    }

    @Test("24 bits in three bytes are the lowest first, with a sign")
    func packed() {
        let bytes: [UInt8] = [
            0, 0, 0, 0x56, 0x34, 0x12, 0xFF, 0xFF, 0xFF, 0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0x80, 0, 0,
        ]
        #expect(convert(bytes, .int24Packed) == [0, 0x1234, 0, .min, .max, 1])
    }

    @Test("24 bits in four bytes: the highest byte means nothing")
    func padded() {
        let samples: [UInt32] = [0x0012_3456, 0xAB12_3456, 0x00FF_FFFF, 0x0080_0000, 0xFF7F_FFFF]
        #expect(convert(samples, .int24) == [0x1234, 0x1234, 0, .min, .max])
    }

    @Test("floating point is limited, and what is no number is silent")
    func float() {
        let samples: [Float] = [0, 0.5, -0.5, 1, -1, 7, -7, .nan, .infinity, 1.6 / 32_768]
        #expect(convert(samples, .float) == [0, 16_384, -16_384, .max, .min, .max, .min, 0, .max, 2])
    }

    @Test("16 bits come first and stay as they are")
    func int16() {
        #expect(SampleEncoding.allCases.first == .int16)
        #expect(convert([1, -1, .max, .min] as [Int16], .int16) == [1, -1, .max, .min])
    }
}
