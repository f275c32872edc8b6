import TestSupport
import Testing

@testable import Bitstream

@Suite struct HEVCDecoderConfigurationRecordTests {
    private typealias Record = HEVCDecoderConfigurationRecord

    /// As libavformat writes them for streams of x265: Main 10 as `hvc1`, Main as `hev1`.
    private static let main10 = hex(
        """
        0102200000009000000000001ef000fcfdfafa00000f 03 \
        a00001 0018 40010c01ffff02200000030090000003000003001e959809 \
        a10001 002a 42010102200000030090000003000003001ea024839d48d96566b932bc05a02000000300200000030321 \
        a20001 0006 4401c173d189
        """)
    private static let main = hex(
        """
        0101600000009000000000001ef000fcfdf8f800000f 03 \
        200001 0018 40010c01ffff01600000030090000003000003001e959809 \
        210001 0028 42010101600000030090000003000003001ea020810596566924caf0168080000003008000000c84 \
        220001 0007 4401c172b42240
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

    private func made(
        from record: Record, isComplete: Bool = true, _ lengthSize: AVCC.LengthSize = .four
    ) throws -> Record {
        try Record(
            videoParameterSets: record.nalUnits(of: .videoParameterSet),
            sequenceParameterSets: record.nalUnits(of: .sequenceParameterSet),
            pictureParameterSets: record.nalUnits(of: .pictureParameterSet), isComplete: isComplete,
            lengthSize: lengthSize)
    }

    @Test func everyElementIsRead() throws {
        let record = try record(Self.main10)
        #expect(record.general_profile_space == 0)
        #expect(!record.general_tier_flag)
        #expect(record.general_profile_idc == 2)
        #expect(record.general_profile_compatibility_flags == 0x2000_0000)
        #expect(record.general_constraint_indicator_flags == 0x9000_0000_0000)
        #expect(record.general_level_idc == 30)
        #expect(record.min_spatial_segmentation_idc == 0)
        #expect(record.parallelismType == 0)
        #expect(record.chroma_format_idc == 1)
        #expect(record.bit_depth_luma_minus8 == 2)
        #expect(record.bit_depth_chroma_minus8 == 2)
        #expect(record.avgFrameRate == 0)
        #expect(record.constantFrameRate == 0)
        #expect(record.numTemporalLayers == 1)
        #expect(record.temporalIdNested)
        #expect(record.lengthSize == .four)
        #expect(
            record.arrays.map(\.NAL_unit_type) == [
                .videoParameterSet, .sequenceParameterSet, .pictureParameterSet,
            ])
        #expect(record.arrays.map(\.array_completeness) == [true, true, true])
        #expect(record.nalUnits(of: .pictureParameterSet) == [hex("4401c173d189")])
        #expect(try self.record(Self.main).arrays.map(\.array_completeness) == [false, false, false])
    }

    @Test(arguments: [Self.main10, Self.main])
    func whatIsReadIsWrittenByteForByte(_ bytes: [UInt8]) throws {
        #expect(try record(bytes).bytes == bytes)
        #expect(try record(bytes + [1, 2, 3]).trailingBytes == [1, 2, 3])
        #expect(try record(bytes + [1, 2, 3]).bytes == bytes + [1, 2, 3])
    }

    @Test func aRecordMadeFromParameterSetsIsTheOneOfLibavformat() throws {
        #expect(try made(from: record(Self.main10)).bytes == Self.main10)
        #expect(try made(from: record(Self.main), isComplete: false).bytes == Self.main)
        let short = try made(from: record(Self.main), .two)
        #expect(short.lengthSize == .two)
        #expect(try record(short.bytes) == short)
    }

    @Test func theLevelIsTheHighestOfAllSequenceParameterSets() throws {
        let record = try record(Self.main)
        let sets = record.nalUnits(of: .sequenceParameterSet)
        var higher = sets[0]
        #expect(higher[17] == 30)
        higher[17] = 93
        let made = try Record(
            videoParameterSets: record.nalUnits(of: .videoParameterSet),
            sequenceParameterSets: sets + [higher],
            pictureParameterSets: record.nalUnits(of: .pictureParameterSet))
        #expect(made.general_level_idc == 93)
        #expect(made.nalUnits(of: .sequenceParameterSet) == sets + [higher])
    }

    @Test func setsThatNoRecordHoldsAreRefused() throws {
        let main = try record(Self.main), main10 = try record(Self.main10)
        let vps = main.nalUnits(of: .videoParameterSet), sps = main.nalUnits(of: .sequenceParameterSet)
        let pps = main.nalUnits(of: .pictureParameterSet)
        func refusal(
            _ vps: [[UInt8]], _ sps: [[UInt8]], _ pps: [[UInt8]]
        ) -> ConfigurationRecordError.Reason? {
            do throws(ConfigurationRecordError) {
                _ = try Record(
                    videoParameterSets: vps, sequenceParameterSets: sps, pictureParameterSets: pps)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(refusal([], sps, pps) == .missing)
        #expect(refusal(vps, [], pps) == .missing)
        #expect(refusal(vps, sps, []) == .missing)
        #expect(refusal([[]], sps, pps) == .emptyUnit)
        #expect(refusal(vps, sps + main10.nalUnits(of: .sequenceParameterSet), pps) == .differing)
        guard case .malformed = refusal(vps, [hex("4201")], pps),
            case .malformed = refusal(vps, sps, [hex("4401")])
        else {
            Issue.record("a truncated set was taken")
            return
        }
    }

    @Test func damagedRecordsAreRefused() {
        for count in 0..<Self.main10.count {
            #expect(refusal(Array(Self.main10.prefix(count))) == .truncated)
        }
        var bytes = Self.main10
        bytes[21] = 0x0E
        #expect(refusal(bytes) == .invalidLengthSize(lengthSizeMinusOne: 2))
        bytes[0] = 0
        #expect(refusal(bytes) == .unsupportedVersion(0))
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<5000 {
            var bytes = Bool.random(using: &generator) ? Self.main : Self.main10
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 1..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            guard let record = try? record(bytes) else { continue }
            #expect(record.bytes == bytes)
        }
    }
}
