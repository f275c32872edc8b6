import Testing

@testable import Bitstream

@Suite struct NALUnitHeaderTests {
    @Test func fieldsOfAByte() {
        let header = H264.NALUnitHeader(byte: 0x67)
        #expect(!header.forbidden_zero_bit)
        #expect(header.nal_ref_idc == 3)
        #expect(header.nal_unit_type == .sequenceParameterSet)
        #expect(H264.NALUnitHeader(byte: 0x80).forbidden_zero_bit)
    }

    @Test func everyHeaderGoesBothWays() {
        for byte in UInt8(0)...0x7F {
            let header = H264.NALUnitHeader(byte: byte)
            let again = H264.NALUnitHeader(
                nal_ref_idc: header.nal_ref_idc, nal_unit_type: header.nal_unit_type)
            #expect(again == header)
        }
    }

    @Test func everyTypeHasItsOwnName() {
        let types = (UInt8(0)...31).compactMap(H264.NALUnitType.init)
        #expect(types.count == 32)
        #expect(Set(types.map(\.description)).count == 32)
        #expect(H264.NALUnitType(rawValue: 32) == nil)
        #expect(H264.NALUnitType.idrSlice.description == "coded slice of an IDR picture")
        #expect(H264.NALUnitType.accessUnitDelimiter.rawValue == 9)
    }

    @Test func referenceIndicationFollowsTheType() {
        let neverZero: Set<UInt8> = [5, 7, 8, 13, 15]
        let alwaysZero: Set<UInt8> = [6, 9, 10, 11, 12]
        for type in UInt8(0)...31 {
            let without = H264.NALUnitHeader(byte: type)
            let with = H264.NALUnitHeader(byte: 0x20 | type)
            #expect(without.isReferenceIndicationValid == !neverZero.contains(type))
            #expect(with.isReferenceIndicationValid == !alwaysZero.contains(type))
        }
    }
}
