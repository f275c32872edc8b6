import TestSupport
import Testing

@testable import Bitstream

@Suite struct StreamInspectorTests {
    private static let idr = [Sample.sps, Sample.pps, Sample.idr]

    /// An inspector that was given a whole stream.
    private func inspector(
        _ stream: [UInt8], codec: Codec = .h264, pictureLimit: Int = StreamInspector.defaultPictureLimit
    ) -> StreamInspector {
        var inspector = StreamInspector(codec: codec, pictureLimit: pictureLimit)
        inspector.inspect(stream)
        return inspector
    }

    /// A P slice with this `frame_num`, for `Sample.sps` (4 bits of it, order count type 2) and `Sample.pps`.
    private func p(_ frame_num: Int) -> [UInt8] {
        var writer = BitWriter()
        for value in [0, 5, 0] { writer.ue(value) }
        writer.u(4, frame_num)
        writer.u(8, 0xA5)
        return writer.nalUnit(header: 0x41)
    }

    @Test func aStreamIsCounted() {
        let stream = annexB(Self.idr + [p(1), p(2)] + Self.idr + [p(1)])
        let summary = inspector(stream).summary
        #expect(summary.byteCount == stream.count)
        #expect(summary.nalUnitCount == 9)
        #expect(summary.accessUnitCount == 5)
        #expect(summary.idrCount == 2)
        #expect(summary.keyframeCount == 2)
        #expect(summary.kindCounts == [.intra: 2, .predicted: 3, .bidirectional: 0, .unknown: 0])
        #expect(summary.groupLengths == 3...3)
        #expect(summary.outputOrder == .decoding)
        #expect(summary.problems.isEmpty)
    }

    @Test func theFormatIsThatOfTheFirstPicture() throws {
        let format = try #require(inspector(annexB(Self.idr)).summary.format)
        #expect(format.profile == "Constrained Baseline")
        #expect((format.width, format.height) == (64, 48))
        #expect(format.chromaFormat == .yuv420)
        #expect(format.tier == nil)
        #expect(inspector(annexB([Sample.baselineSPS])).summary.format == nil)
    }

    @Test func picturesAreContiguousWhateverTheirStartCodes() {
        let first = annexB3([Sample.sps, Sample.pps]) + annexB([Sample.idr]) + [0, 0]
        let stream = first + annexB([p(1)]) + annexB3([p(2)])
        let inspector = inspector(stream)
        #expect(inspector.pictures.map(\.offset) == [0, first.count, first.count + 4 + p(1).count])
        #expect(inspector.pictures.map(\.byteCount).reduce(0, +) == stream.count)
        #expect(inspector.summary.prefixes.map(\.length) == [3, 4])
        #expect(inspector.summary.prefixes.map(\.count) == [3, 2])
    }

    @Test func slicesOfOnePictureAreOneAccessUnit() {
        let summary = inspector(annexB([Sample.sps, Sample.pps] + Sample.idrSlices)).summary
        #expect(summary.accessUnitCount == 1)
        #expect(summary.unitTypes.map(\.name) == ["IDR slice", "SPS", "PPS"])
        #expect(summary.unitTypes.map(\.count) == [3, 1, 1])
    }

    @Test func unitsAreToldOneByOne() throws {
        var records: [NALUnitRecord] = []
        var inspector = StreamInspector(codec: .h264)
        inspector.inspect(annexB(Self.idr + [p(1)])) { records.append($0) }
        #expect(
            records.map(\.offset) == [
                0, Sample.sps.count + 4, Sample.sps.count + Sample.pps.count + 8, annexB(Self.idr).count,
            ])
        #expect(records.map(\.beginsAccessUnit) == [true, false, false, true])
        #expect(
            records[2].slice
                == NALUnitRecord.Slice(
                    type: "I", kind: .intra, frame_num: 0, pic_order_cnt_lsb: nil))
        #expect(records[3].slice?.frame_num == 1)
        #expect(records[3].header?.shortName == "slice")
    }

    @Test func distinctParameterSetsAreKeptOnceAndChangesCounted() {
        let changed = [Sample.changedSPS, Sample.pps, Sample.idr]
        let summary = inspector(annexB(Self.idr + Self.idr + changed + Self.idr)).summary
        #expect(
            summary.parameterSetCounts == [
                ParameterSetCount(kind: "SPS", count: 4, distinct: 2, changes: 2),
                ParameterSetCount(kind: "PPS", count: 4, distinct: 1, changes: 0),
            ])
        #expect(summary.parameterSets.map(\.kind) == ["SPS", "PPS", "SPS"])
        #expect(summary.parameterSets.map(\.count) == [3, 4, 1])
        #expect(summary.parameterSets[0].nalUnit == Sample.sps)
        #expect(summary.parameterSets[0].structure["level_idc"] == 10)
        #expect(summary.parameterSets[2].structure["level_idc"] == 11)
    }

    @Test func hostileNumbersOfParameterSetsAreBounded() {
        var generator = SeededGenerator(seed: 1)
        let sets = (0..<400).map { _ in [0x67] + generator.bytes(400) + [0x80] }
        let summary = inspector(annexB(sets)).summary
        #expect(summary.parameterSetsAreIncomplete)
        #expect(summary.parameterSets.map(\.byteCount).reduce(0, +) <= ParameterSetCatalogue.byteLimit)
    }

    @Test func oddThingsAreNamedWithTheirFirstOffset() {
        let stream = annexB(Self.idr + [[0xC1] + p(1).dropFirst(), [0xC1] + p(2).dropFirst(), [0x26, 0x80]])
        let problems = inspector(stream).summary.problems
        #expect(problems.map(\.message).contains("forbidden_zero_bit is set: a damaged NAL unit"))
        #expect(problems.first?.offset == annexB(Self.idr).count)
        #expect(problems.first?.count == 2)
        #expect(problems.map(\.message).contains("nal_ref_idc 1 is not allowed in SEI"))
    }

    @Test func whatDecodersPassOverIsOdd() {
        for type in [0, 17, 18, 22, 23] + Array(24...31) {
            let summary = inspector(annexB(Self.idr + [[UInt8(type), 0x80]])).summary
            #expect(summary.problems.map(\.offset) == [annexB(Self.idr).count])
        }
        for type in Array(10...15) + Array(22...31) + Array(41...63) {
            let summary = inspector(annexB([[UInt8(type << 1), 1, 0x80]]), codec: .hevc).summary
            #expect(summary.problems.contains { $0.message.contains("decoders ignore") })
        }
    }

    @Test func partitionsArePictures() {
        // Partition A has the slice's header (7.3.2.9.1).
        let partitions = (1...3).map { number in [0x42] + p(number).dropFirst() }
        let summary = inspector(annexB(Self.idr + partitions)).summary
        #expect(summary.accessUnitCount == 4)
        #expect(summary.kindCounts[.predicted] == 3)
        #expect(summary.problems.map(\.count) == [3])
    }

    @Test func missingPicturesShowInFrameNumbers() {
        #expect(inspector(annexB(Self.idr + [p(1), p(2), p(3)])).summary.problems.isEmpty)
        let gap = inspector(annexB(Self.idr + [p(1), p(4), p(5)])).summary.problems
        #expect(gap.map(\.message) == ["frame_num jumps: pictures are missing"])
        #expect(gap.first?.count == 1)
    }

    @Test func aStreamThatBeginsInTheMiddleSaysSo() {
        let summary = inspector(annexB([Sample.sps, Sample.pps, p(3), p(4)])).summary
        #expect(summary.problems.map(\.message) == ["the stream does not begin with a keyframe"])
        #expect(summary.groupLengths == nil)
        let bare = inspector(annexB([p(3), p(4)])).summary
        #expect(bare.accessUnitCount == 2)
        #expect(
            bare.problems.contains { $0.message == "a slice refers to parameter sets that are not there" })
    }

    @Test func recordsEndAtTheLimitAndCountingGoesOn() {
        let inspector = inspector(annexB(Self.idr + (1...9).map(p)), pictureLimit: 4)
        #expect(inspector.pictures.count == 4)
        #expect(inspector.summary.accessUnitCount == 10)
    }

    @Test func aPictureRecordIsSmall() {
        #expect(MemoryLayout<PictureRecord>.stride == 16)
        let record = PictureRecord(
            offset: 1 << 40, byteCount: 1 << 20, kind: .bidirectional, isIDR: false, isKeyframe: true,
            isSecondField: true)
        #expect((record.offset, record.byteCount) == (1 << 40, 1 << 20))
        #expect(record.kind == .bidirectional)
        #expect(!record.isIDR && record.isKeyframe && record.isSecondField)
    }

    @Test func userDataIsTold() {
        let text = inspector(annexB(Self.idr + [Sample.sei, p(1)])).summary.messages
        #expect(text.map(\.name) == ["user_data_unregistered"])
        #expect(text.first?.text == "A")
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<300 {
            var stream = annexB(Self.idr + [Sample.sei, p(1)] + Self.idr)
            for _ in 0..<(round % 12 + 1) {
                stream[Int.random(in: 0..<stream.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            for codec in Codec.allCases {
                let summary = inspector(stream, codec: codec).summary
                #expect(summary.byteCount == stream.count)
                #expect(summary.kindCounts.values.reduce(0, +) == summary.accessUnitCount)
            }
        }
    }
}

@Suite struct InspectionMeasureTests {
    @Test func thePeakIsThatOfTheBusiestSecond() throws {
        var meter = try #require(BitRateMeter(framesPerSecond: 4))
        for size in [1, 1, 1] { meter.add(byteCount: size, isSecondField: false) }
        #expect(meter.peakBitRate == nil)
        for size in [10, 20, 30, 1, 1] { meter.add(byteCount: size, isSecondField: false) }
        #expect(meter.peakBitRate == 488.0)
    }

    @Test func secondFieldsBelongToTheFrameBefore() throws {
        var meter = try #require(BitRateMeter(framesPerSecond: 2))
        for size in [1, 2, 3] {
            meter.add(byteCount: size, isSecondField: false)
            meter.add(byteCount: 10 * size, isSecondField: true)
        }
        #expect(meter.peakBitRate == 440.0)
    }

    @Test func ratesBeyondBeliefAreNotMeasured() {
        #expect(BitRateMeter(framesPerSecond: 0.01) == nil)
        #expect(BitRateMeter(framesPerSecond: 1e9) == nil)
        #expect(BitRateMeter(framesPerSecond: .infinity) == nil)
    }

    @Test func theLastGroupCountsOnlyWhereItIsTheOnlyOne() {
        var groups = GroupLengths()
        for isKeyframe in [false, true, false, false] {
            groups.add(isKeyframe: isKeyframe, isSecondField: false)
        }
        #expect(groups.range == 3...3)
        for isKeyframe in [true, false, true] { groups.add(isKeyframe: isKeyframe, isSecondField: false) }
        #expect(groups.range == 2...3)
    }

    @Test func frameNumbersMayWrapAndStartAnew() {
        var tracker = FrameNumberTracker()
        func isGap(ahead number: Int, isIDR: Bool = false, isReference: Bool = true) -> Bool {
            tracker.add(number, modulus: 16, isIDR: isIDR, isReference: isReference)
        }
        for number in Array(0...15) + [0, 1, 1] { #expect(!isGap(ahead: number)) }
        #expect(!isGap(ahead: 2, isReference: false))
        #expect(!isGap(ahead: 2))
        #expect(isGap(ahead: 9, isReference: false))
        #expect(!isGap(ahead: 9))
        #expect(!isGap(ahead: 0, isIDR: true))
    }
}

@Suite struct HEVCStreamInspectorTests {
    /// Parameter sets that x265 wrote: 320x240, 25 frames a second, 8 bits of picture order count.
    private static let sets = [
        hex("4001 0c01ffff01600000030090000003000003003c959409"),
        hex("4201 0101600000030090000003000003003ca00a080f16595964932bc05a020000030002000003003210"),
        hex("4401 c172b46240"),
    ]
    /// The start of an IDR picture's slice.
    private static let idr = hex("2801 af1d20bd38c09f24")

    /// A slice of a trailing picture (TRAIL_R) that refers to the previous picture: 0 is B, 1 P.
    private func slice(type: Int, order: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 1)  // the header's second byte
        writer.flag(true)  // first_slice_segment_in_pic_flag
        for value in [0, type] { writer.ue(value) }
        writer.u(8, order)
        writer.flag(false)  // short_term_ref_pic_set_sps_flag
        for value in [1, 0, 0] { writer.ue(value) }  // one picture, the previous one
        writer.flag(true)
        writer.u(9, 0x155)
        return writer.nalUnit(header: 0x02)
    }

    private func summary(_ units: [[UInt8]]) -> StreamSummary {
        var inspector = StreamInspector(codec: .hevc)
        inspector.inspect(annexB(Self.sets + [Self.idr] + units))
        return inspector.summary
    }

    @Test func theFormatHasATier() throws {
        let summary = summary([slice(type: 1, order: 1)])
        let format = try #require(summary.format)
        #expect((format.profile, format.level, format.tier) == ("Main", "2", "Main"))
        #expect((format.width, format.height) == (320, 240))
        #expect(summary.framesPerSecond == 25.0)
        #expect(summary.kindCounts[.predicted] == 1)
        #expect(summary.parameterSetCounts.map(\.kind) == ["VPS", "SPS", "PPS"])
        #expect(summary.problems.isEmpty)
    }

    @Test func bPicturesInOrderAreGeneralisedP() {
        let summary = summary((1...5).map { slice(type: 0, order: $0) })
        #expect(summary.kindCounts[.bidirectional] == 5)
        #expect(summary.outputOrder == .decoding)
        #expect(summary.hasGeneralizedP)
    }

    @Test func bPicturesOutOfOrderAreReordered() {
        let summary = summary([slice(type: 1, order: 2), slice(type: 0, order: 1)])
        #expect(summary.outputOrder == .reordered)
        #expect(!summary.hasGeneralizedP)
    }
}

extension StreamInspector {
    /// Takes a whole Annex B stream.
    mutating func inspect(_ stream: [UInt8], _ body: (NALUnitRecord) -> Void = { _ in }) {
        var source = NALUnitSource(.annexB, maximumUnitByteCount: 1 << 20)
        source.parse(stream.span.bytes, isLast: true) { piece, nalUnit in
            if let problem = piece.problem {
                note(problem.message, at: problem.offset)
            } else {
                body(inspect(nalUnit, at: piece.place))
            }
        }
        finish(byteCount: stream.count)
    }
}
