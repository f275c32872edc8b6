import Testing

@testable import Bitstream

extension SupplementalEnhancementInformation {
    init(_ nalUnit: [UInt8], codec: Codec = .h264, parameterSets: [[UInt8]] = []) throws(SyntaxError) {
        var sets = StreamParameterSets(codec: codec)
        for set in parameterSets { try sets.insert(set.span.bytes) }
        self.init(nalUnit.span.bytes, parameterSets: sets)
    }
}

@Suite struct SupplementalEnhancementInformationTests {
    /// A unit of one message for each payload.
    private func unit(_ messages: [(type: Int, payload: [UInt8])], codec: Codec = .h264) -> [UInt8] {
        var bytes: [UInt8] = codec == .h264 ? [6] : [39 << 1, 1]
        for (type, payload) in messages {
            for number in [type, payload.count] {
                bytes += [UInt8](repeating: 255, count: number / 255) + [UInt8(number % 255)]
            }
            bytes += payload
        }
        return EmulationPrevention.escape((bytes + [0x80]).span.bytes)
    }

    @Test func userDataOfX264() throws {
        let information = try SupplementalEnhancementInformation(Sample.sei)
        #expect(information.error == nil)
        let message = try #require(information.messages.first)
        #expect((message.payloadType, message.name) == (5, "user_data_unregistered"))
        #expect(message.payloadSize == 17)
        guard case .unregisteredUserData(let data) = message.content else {
            Issue.record("not read")
            return
        }
        #expect(data.uuidText == "dc45e9bd-e6d9-48b7-962c-d820d923eeef")
        #expect(data.text == "A")
    }

    @Test func textThatIsNoneIsNotShown() throws {
        let uuid = [UInt8](repeating: 7, count: 16)
        for (payload, text) in [
            (Array("abc\0".utf8), "abc"), (Array("é".utf8), "é"), ([1, 2], nil), ([0xFF, 0x41], nil),
            ([], nil),
        ] {
            let message = try SupplementalEnhancementInformation(unit([(5, uuid + payload)])).messages.first
            guard case .unregisteredUserData(let data) = message?.content else {
                Issue.record("not read")
                continue
            }
            #expect(data.payload == payload && data.text == text)
        }
    }

    @Test func severalMessagesWithLongNumbers() throws {
        let captions: [UInt8] = [0xB5, 0x00, 0x31] + Array("GA94".utf8) + [3, 0, 0, 0, 0, 0, 1]
        let information = try SupplementalEnhancementInformation(
            unit([(4, captions), (300, [UInt8](repeating: 0, count: 700)), (6, [0b1101_0000]), (45, [])]))
        #expect(information.error == nil)
        #expect(information.messages.map(\.payloadType) == [4, 300, 6, 45])
        #expect(information.messages.map(\.payloadSize) == [captions.count, 700, 1, 0])
        #expect(information.messages[1].name == "reserved_sei_message")
        #expect(information.messages[3].name == "frame_packing_arrangement")
        guard case .registeredUserData(let data) = information.messages[0].content,
            case .recoveryPoint(let point) = information.messages[2].content
        else {
            Issue.record("not read")
            return
        }
        #expect(data.itu_t_t35_country_code == 181 && data.kind == .captions)
        #expect(point.count == 0 && point.exact_match_flag && !point.broken_link_flag)
        #expect(point.changing_slice_group_idc == 2)
    }

    @Test(arguments: Codec.allCases) func alternativeTransferIsReadAndNamed(codec: Codec) throws {
        let unit = unit([(147, [18])], codec: codec)
        let sets = StreamParameterSets(codec: codec)
        let information = SupplementalEnhancementInformation(unit.span.bytes, parameterSets: sets)
        #expect(information.messages.map(\.content) == [.alternativeTransfer(preferred: 18)])
        var inspector = StreamInspector(codec: codec)
        inspector.inspect(unit.span.bytes, at: NALUnitPlace(offset: 0, prefixLength: 4))
        #expect(inspector.summary.alternativeTransfer == "ARIB STD-B67, HLG")
    }

    @Test func recoveryPointsOfH265MayLieBack() throws {
        var writer = BitWriter()
        writer.se(-3)
        writer.flags(false, true)
        let information = try SupplementalEnhancementInformation(
            unit([(6, writer.rbsp)], codec: .hevc), codec: .hevc)
        guard case .recoveryPoint(let point) = information.messages.first?.content else {
            Issue.record("not read")
            return
        }
        #expect(point.count == -3 && !point.exact_match_flag && point.broken_link_flag)
        #expect(point.changing_slice_group_idc == nil)
    }

    /// From x264; values are those of libavcodec's `trace_headers`.
    @Test func timingOfAnInterlacedPicture() throws {
        let sps = hex("677a0015b6cd941533c44d8088000003000800000301e3020007a12000f425261807c50a6580")
        let information = try SupplementalEnhancementInformation(
            hex("0601040000432080"), parameterSets: [sps])
        guard case .h264PictureTiming(let timing) = information.messages.first?.content else {
            Issue.record("not read")
            return
        }
        #expect((timing.cpb_removal_delay, timing.dpb_output_delay) == (0, 4))
        #expect(timing.pic_struct == 3 && timing.clockTimestamps == [nil, nil])
        let buffering = try SupplementalEnhancementInformation(
            hex("06000593c670465380"), parameterSets: [sps])
        #expect(buffering.messages.map(\.content) == [.bufferingPeriod(sequenceParameterSetID: 0)])
        let unknown = try SupplementalEnhancementInformation(hex("0601040000432080"))
        #expect(unknown.messages.map(\.content) == [.unread])
    }

    @Test func clockTimestamps() throws {
        var writer = BitWriter()
        writer.u(13, 1)
        writer.u(7, 2)
        writer.u(4, 5)
        writer.flag(true)
        writer.u(8, 0b01_1_00100)
        writer.flags(true, false, true)
        writer.u(8, 24)
        for (bitCount, value) in [(6, 59), (6, 58), (5, 23)] { writer.u(bitCount, value) }
        writer.flag(false)
        writer.flag(true)
        writer.u(8, 0)
        writer.flags(false, true, false)
        writer.u(8, 1)
        writer.flag(true)
        writer.u(6, 30)
        writer.flag(false)
        let information = try SupplementalEnhancementInformation(
            unit([(1, writer.rbsp)]), parameterSets: [Sample.interlacedSPS])
        guard case .h264PictureTiming(let timing) = information.messages.first?.content else {
            Issue.record("not read")
            return
        }
        #expect(timing.pic_struct == 5 && timing.clockTimestamps.count == 3)
        let first = try #require(timing.clockTimestamps[0])
        #expect(first.ct_type == 1 && first.nuit_field_based_flag && first.counting_type == 4)
        #expect((first.hours_value, first.minutes_value, first.seconds_value) == (23, 58, 59))
        #expect(first.cnt_dropped_flag && first.n_frames == 24)
        #expect(timing.clockTimestamps[1] == nil)
        let third = try #require(timing.clockTimestamps[2])
        #expect(third.seconds_value == 30 && third.minutes_value == nil && third.hours_value == nil)
        #expect(third.discontinuity_flag)
    }

    /// From x265; values are those of libavcodec's `trace_headers`.
    @Test func timingOfAFieldInH265() throws {
        let information = try SupplementalEnhancementInformation(
            hex("4e0101011180"), codec: .hevc, parameterSets: [H265Sample.fieldsSPS])
        guard case .hevcPictureTiming(let timing) = information.messages.first?.content else {
            Issue.record("not read")
            return
        }
        #expect((timing.pic_struct, timing.source_scan_type) == (1, 0))
        #expect(timing.duplicate_flag == false)
        #expect(timing.au_cpb_removal_delay_minus1 == nil && timing.pic_dpb_output_delay == nil)
    }

    @Test func decodingUnitsOfH265() throws {
        var writer = BitWriter()
        writer.u(4, 0)
        writer.u(3, 0b010)
        writer.u(16, 7)
        writer.u(6, 8)
        writer.u(5, 9)
        writer.ue(2)
        writer.flag(false)
        for index in 0...2 {
            writer.ue(index)
            if index < 2 { writer.u(4, 15) }
        }
        let nalUnit = unit([(1, writer.rbsp)], codec: .hevc)
        let sps = H265SequenceParameterSetTests.handMade()
        let information = try SupplementalEnhancementInformation(
            nalUnit, codec: .hevc, parameterSets: [sps])
        guard case .hevcPictureTiming(let timing) = information.messages.first?.content else {
            Issue.record("not read")
            return
        }
        #expect((timing.source_scan_type, timing.au_cpb_removal_delay_minus1) == (1, 7))
        let structure = try SyntaxStructure(nalUnit, codec: .hevc, parameterSets: [sps])
        #expect(structure.error == nil)
        #expect(structure.elements.last?.description == "num_nalus_in_du_minus1[2] = 2")
    }

    @Test func aDamagedPayloadSparesTheOthers() throws {
        let nalUnit = unit([(6, []), (6, [0b1100_0000])])
        let information = try SupplementalEnhancementInformation(nalUnit)
        #expect(information.error == nil && information.messages.count == 2)
        guard case .damaged(let error) = information.messages[0].content,
            case .recoveryPoint = information.messages[1].content
        else {
            Issue.record("read otherwise")
            return
        }
        #expect(error.element == "recovery_frame_cnt" && error.reason == .truncated)
        #expect(try SyntaxStructure(nalUnit).error == error)
    }

    @Test func aPayloadThatIsCutOffIsAnError() throws {
        let information = try SupplementalEnhancementInformation([6, 5, 200, 1, 2, 3])
        #expect(information.messages.isEmpty)
        #expect(information.error?.element == "sei_payload" && information.error?.reason == .truncated)
        #expect(try SupplementalEnhancementInformation(Sample.sps).error != nil)
        #expect(try SupplementalEnhancementInformation([]).error != nil)
    }

    @Test func theNumberOfMessagesIsBounded() throws {
        let count = SupplementalEnhancementInformation.maximumMessageCount + 1
        let information = try SupplementalEnhancementInformation(
            unit(Array(repeating: (type: 3, payload: []), count: count)))
        #expect(information.messages.count == count - 1)
        #expect(information.error?.element == "sei_message")
    }

    @Test func aRunOfOnesIsCutShort() throws {
        let nalUnit = [6] + [UInt8](repeating: 255, count: 100_000)
        #expect(try SupplementalEnhancementInformation(nalUnit).error?.element == "last_payload_type_byte")
        #expect(try SyntaxStructure(nalUnit).elements.count < 300)
    }

    @Test func namesOfTheTypes() {
        #expect(SEIMessage.name(ofPayloadType: 15, codec: .h264) == "full_frame_snapshot")
        #expect(SEIMessage.name(ofPayloadType: 15, codec: .hevc) == "picture_snapshot")
        #expect(SEIMessage.name(ofPayloadType: 132, codec: .hevc) == "decoded_picture_hash")
        #expect(SEIMessage.name(ofPayloadType: 132, codec: .h264) == "reserved_sei_message")
        #expect(SEIMessage.name(ofPayloadType: 137, codec: .h264) == "mastering_display_colour_volume")
    }
}
