import TestSupport
import Testing

@testable import Bitstream

@Suite struct AVCDecoderConfigurationRecordTests {
    private typealias Record = AVCDecoderConfigurationRecord

    /// As libavformat writes them for streams of x264: Constrained Baseline, and 10-bit High 4:2:2.
    private static let baseline = hex(
        "0142c00affe1 0017 6742c00ad9047b011000000300100000030320f1226480 01 0005 68cb83cb20")
    private static let high422 = hex(
        """
        017a000affe1 001a 677a000ab6cd945279a3f011000003000100000300320f122596 \
        01 0006 68ebe3cb22c0 fefafa 00
        """)

    private func record(_ bytes: [UInt8]) throws(ConfigurationRecordError) -> Record {
        try Record(bytes.span.bytes)
    }

    private func refusal(_ bytes: [UInt8]) -> ConfigurationRecordError.Reason? {
        do throws(ConfigurationRecordError) {
            _ = try record(bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func everyElementIsRead() throws {
        let record = try record(Self.high422)
        #expect(record.AVCProfileIndication == 122)
        #expect(record.profile_compatibility == 0)
        #expect(record.AVCLevelIndication == 10)
        #expect(record.lengthSize == .four)
        #expect(record.sequenceParameterSets.map(\.count) == [26])
        #expect(record.pictureParameterSets == [hex("68ebe3cb22c0")])
        #expect(record.highProfile?.chroma_format == 2)
        #expect(record.highProfile?.bit_depth_luma_minus8 == 2)
        #expect(record.highProfile?.bit_depth_chroma_minus8 == 2)
        #expect(record.highProfile?.sequenceParameterSetExtensions.isEmpty == true)
        #expect(record.trailingBytes.isEmpty)
        #expect(try self.record(Self.baseline).highProfile == nil)
    }

    @Test(arguments: [Self.baseline, Self.high422])
    func whatIsReadIsWrittenByteForByte(_ bytes: [UInt8]) throws {
        #expect(try record(bytes).bytes == bytes)
        #expect(
            try record(bytes + [1, 2, 3]).trailingBytes == (try record(bytes).trailingBytes) + [1, 2, 3])
        #expect(try record(bytes + [1, 2, 3]).bytes == bytes + [1, 2, 3])
    }

    @Test(arguments: [Self.baseline, Self.high422])
    func aRecordMadeFromParameterSetsIsTheOneOfLibavformat(_ bytes: [UInt8]) throws {
        let record = try record(bytes)
        let made = try Record(
            sequenceParameterSets: record.sequenceParameterSets,
            pictureParameterSets: record.pictureParameterSets)
        #expect(made == record)
        #expect(made.bytes == bytes)
    }

    @Test func reservedBitsAndMissingElementsAreKept() throws {
        var bytes = Array(Self.high422.dropLast(4))
        #expect(try record(bytes).highProfile == nil)
        #expect(try record(bytes).bytes == bytes)
        bytes[4] = 1
        bytes[5] = 1
        #expect(try record(bytes).lengthSize == .two)
        #expect(try record(bytes).bytes == bytes)
        bytes += [1, 2, 3, 1, 0, 2, 0x6D, 0x80]
        #expect(try record(bytes).highProfile?.sequenceParameterSetExtensions == [hex("6d80")])
        #expect(try record(bytes).bytes == bytes)
    }

    @Test func theLevelIsTheHighestAndTheFlagsAreThoseOfAll() throws {
        var other = Sample.sps
        other[2] = 0x40
        other[3] = 30
        let made = try Record(
            sequenceParameterSets: [Sample.sps, other], pictureParameterSets: [Sample.pps], lengthSize: .two)
        #expect(made.AVCProfileIndication == 66)
        #expect(made.profile_compatibility == 0x40)
        #expect(made.AVCLevelIndication == 30)
        #expect(made.lengthSize == .two)
        #expect(try record(made.bytes) == made)
    }

    @Test func damagedRecordsAreRefused() {
        for count in 0..<Self.baseline.count {
            #expect(refusal(Array(Self.baseline.prefix(count))) == .truncated)
        }
        var bytes = Self.baseline
        bytes[0] = 2
        #expect(refusal(bytes) == .unsupportedVersion(2))
        bytes[0] = 1
        bytes[4] = 0xFE
        #expect(refusal(bytes) == .invalidLengthSize(lengthSizeMinusOne: 2))
        #expect(refusal(hex("0142c00affe1 0000 00")) == .emptyUnit)
        let large = [UInt8](repeating: 1, count: 1 << 20 + 1)
        #expect(refusal(large) == .tooLarge(byteCount: 1 << 20 + 1, limit: 1 << 20))
    }

    @Test func anErrorIsOneLineWithItsPlace() {
        let error = #expect(throws: ConfigurationRecordError.self) { try record(hex("0142c00affe1 0017 67")) }
        #expect(
            error?.description
                == "offset 8: sequenceParameterSetNALUnit: the decoder configuration record ends within it")
    }

    @Test func setsThatNoRecordHoldsAreRefused() {
        func refusal(_ sps: [[UInt8]], _ pps: [[UInt8]], _ ext: [[UInt8]] = []) -> ConfigurationRecordError
            .Reason?
        {
            do throws(ConfigurationRecordError) {
                _ = try Record(
                    sequenceParameterSets: sps, pictureParameterSets: pps, sequenceParameterSetExtensions: ext
                )
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(refusal([], [Sample.pps]) == .missing)
        #expect(refusal([Sample.sps], []) == .missing)
        #expect(refusal([Sample.sps], [[]]) == .emptyUnit)
        #expect(
            refusal(Array(repeating: Sample.sps, count: 32), [Sample.pps]) == .tooMany(count: 32, limit: 31))
        #expect(
            refusal([Sample.sps], Array(repeating: Sample.pps, count: 256))
                == .tooMany(count: 256, limit: 255))
        let long = Sample.pps + [UInt8](repeating: 1, count: 1 << 16)
        #expect(refusal([Sample.sps], [long]) == .tooLarge(byteCount: long.count, limit: 0xFFFF))
        #expect(refusal([Sample.sps, Sample.high444SPS], [Sample.pps]) == .differing)
        #expect(refusal([Sample.sps], [Sample.pps], [hex("6d80")]) == .tooMany(count: 1, limit: 0))
        #expect(refusal([Sample.high444SPS], [Sample.pps], [hex("6d80")]) == nil)
        guard case .malformed = refusal([hex("6742")], [Sample.pps]) else {
            Issue.record("a truncated set was taken")
            return
        }
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<5000 {
            var bytes = Bool.random(using: &generator) ? Self.baseline : Self.high422
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 1..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            guard let record = try? record(bytes) else { continue }
            #expect(record.bytes == bytes)
        }
    }
}
