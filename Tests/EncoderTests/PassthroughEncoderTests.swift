import Bitstream
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder

/// A camera's own H.264.
@Suite struct PassthroughEncoderTests {
    private let format: PictureFormat
    /// What a camera might send: an IDR every five pictures, each with its parameter sets.
    private let stream: [[UInt8]]

    init() throws {
        let film = try Film(.nv12, 64, 48)
        stream = try film.encode(
            20, with: film.software { $0.keyframeInterval = .frames(5) }, idrFrames: { $0 % 5 == 0 }
        ).map(\.allBytes)
        format = try Film(.h264, 64, 48).format
    }

    /// The sequence numbers of output pictures, and of damaged ones.
    private func pass(_ buffers: [(sequence: UInt32, bytes: [UInt8])]) throws -> (
        passed: [AccessUnit], damaged: [UInt32]
    ) {
        let encoder = PassthroughEncoder()
        var units: [AccessUnit] = []
        var damaged: [UInt32] = []
        for (sequence, bytes) in buffers {
            do {
                try encoder.encode(
                    picture(
                        format, [bytes], sequence: sequence,
                        timestamp: .start + .microseconds(Int64(sequence))),
                    as: .automatic, frameNumber: units.count)
                while let unit = try encoder.nextAccessUnit() { units.append(unit) }
            } catch let error as EncoderError {
                guard error.recovery == .skipFrame else { throw error }
                damaged.append(sequence)
            }
        }
        try encoder.drain()
        #expect(try encoder.nextAccessUnit() == nil)
        return (units, damaged)
    }

    private func numbered(_ buffers: [[UInt8]]) -> [(sequence: UInt32, bytes: [UInt8])] {
        buffers.enumerated().map { (UInt32($0.offset), $0.element) }
    }

    /// The NAL units of a picture, each after its start code.
    private func units(_ bytes: [UInt8], _ isIncluded: (H264.NALUnitType) -> Bool) -> [UInt8] {
        var scanner = NALUnitScanner()
        var result: [UInt8] = []
        while let unit = scanner.next(in: bytes.span.bytes) {
            let type = H264.NALUnitHeader(byte: bytes[unit.bytes.lowerBound]).nal_unit_type
            if isIncluded(type) { result += [0, 0, 0, 1] + bytes[unit.bytes] }
        }
        return result
    }

    private func withoutSets(_ bytes: [UInt8]) -> [UInt8] { units(bytes) { !$0.isParameterSet } }

    @Test("passes every picture, byte for byte, with its number and time")
    func everything() throws {
        let (passed, damaged) = try pass(numbered(stream))
        #expect(passed.map(\.allBytes) == stream)
        #expect(passed.map(\.sequence) == (0..<20).map(UInt32.init))
        #expect(passed.map(\.timestamp) == (0..<20).map { .start + .microseconds($0) })
        #expect(passed.idrPositions == [0, 5, 10, 15])
        #expect(damaged.isEmpty)
    }

    @Test("brings short start codes and delimiters into shape")
    func shapes() throws {
        let raw = stream.map { bytes in
            var scanner = NALUnitScanner()
            var result: [UInt8] = [0, 0, 0, 1, 9, 0xf0]
            while let unit = scanner.next(in: bytes.span.bytes) { result += [0, 0, 1] + bytes[unit.bytes] }
            return result
        }
        #expect(try pass(numbered(raw)).passed.map(\.allBytes) == stream)
    }

    @Test("a stream joined in the middle begins with the first IDR")
    func joined() throws {
        let (passed, damaged) = try pass(Array(numbered(stream)[3...]))
        #expect(passed.map(\.sequence) == (5..<20).map(UInt32.init))
        #expect(damaged == [3, 4])
    }

    @Test("passes nothing after a gap until the next IDR")
    func gap() throws {
        let buffers = numbered(stream).filter { $0.sequence != 7 }
        let (passed, damaged) = try pass(buffers)
        #expect(passed.map(\.sequence) == [0, 1, 2, 3, 4, 5, 6] + Array(10..<20))
        #expect(damaged == [8, 9])
        #expect(try TestDecoder.decode(passed).count == 17)
    }

    @Test("loses nothing more if a gap ends with an IDR")
    func gapBeforeIDR() throws {
        let (passed, damaged) = try pass(numbered(stream).filter { $0.sequence != 9 })
        #expect(passed.count == 19)
        #expect(damaged.isEmpty)
    }

    @Test("puts parameter sets from a separate buffer before every IDR")
    func separateSets() throws {
        let sets = units(stream[0]) { $0.isParameterSet }
        let (passed, damaged) = try pass(numbered([sets] + stream.map(withoutSets)))
        #expect(passed.map(\.allBytes) == stream)
        #expect(damaged == [0])
    }

    @Test("understands a camera that sends its sets once, even after a gap")
    func setsOnce() throws {
        let once = [stream[0]] + stream.dropFirst().map(withoutSets)
        let (passed, _) = try pass(numbered(once).filter { $0.sequence != 12 })
        #expect(passed.map(\.sequence) == Array(0..<12) + Array(15..<20))
        #expect(passed.last { $0.isIDR }?.allBytes == stream[15])
    }

    @Test("leaves out an IDR that has no parameter sets, and so cannot be decoded")
    func missingSets() throws {
        let (passed, damaged) = try pass(numbered(stream.prefix(10).map(withoutSets) + stream[10...]))
        #expect(passed.map(\.sequence) == (10..<20).map(UInt32.init))
        #expect(damaged == Array(0..<10))
    }

    @Test(
        "damaged data costs pictures up to the next IDR, never the recording",
        arguments: [[], [0], [0xff, 0xff, 0xff], [0, 0, 0, 1], [0, 0, 1, 0x65], [0, 0, 0, 1, 0xff, 0xff]]
            as [[UInt8]])
    func damaged(bytes: [UInt8]) throws {
        var buffers = stream
        buffers[2] = bytes
        let (passed, damaged) = try pass(numbered(buffers))
        #expect(passed.map(\.sequence) == [0, 1] + Array(5..<20))
        #expect(damaged == [2, 3, 4])
    }

    @Test("does not take wrapping numbers for a gap")
    func wrap() throws {
        let buffers = stream.enumerated().map { (UInt32.max - 3 &+ UInt32($0.offset), $0.element) }
        #expect(try pass(buffers).passed.count == 20)
    }
}
