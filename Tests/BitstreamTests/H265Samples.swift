import Testing

@testable import Bitstream

extension H265.VideoParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

extension H265.SequenceParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

extension H265.PictureParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

/// Parameter sets that x265 wrote.
enum H265Sample {
    /// 322x182 at 30 frames a second, Main, with HRD, at level 4.1.
    static let vps = hex("40010c01ffff01600000030090000003000003007b95980c000003000400000300f2a8")
    static let sps = hex(
        "42010101600000030090000003000003007ba00a480b9b21565959a49395e1c9c244826904000003000400000300f2b00a4b3"
            + "70007a12000f42440")
    static let pps = hex("4401c172b46240")

    /// 416x240 fields, Main 10, two temporal sub-layers, 30000/1001 fields a second.
    static let fieldsVPS = hex("40010c02ffff02200000030040000003000003003c00009598acc048")
    static let fieldsSPS = hex(
        "42010202200000030040000003000003003c0000a00d080f13659598acd24995e02d0d00000303e90000753008")
    static let fieldsPPS = hex("4401c172b44240")

    /// 416x240, 4:4:4 at 12 bits.
    static let main444SPS = hex(
        "420101040800000300980800000300003c9001a101e2294b2b355e5780b40400000fa40001d4c020")
    /// 416x240, monochrome, CBR with HRD.
    static let monochromeSPS = hex(
        "4201010408000003009fc8000003000099c034203c596566924b2bc05b02000007d20000ea60c0292cdc001e848003d099")
    static let monochromePPS = hex("4401c17a8c7670a424")
}

extension BitWriter {
    /// The NAL unit of the base layer of this type.
    func h265NALUnit(type: UInt8) -> [UInt8] {
        EmulationPrevention.escape(([type << 1, 1] + rbsp).span.bytes)
    }

    mutating func flags(_ values: Bool...) { for value in values { flag(value) } }

    /// profile_tier_level() of one layer: Main profile, level 3.1.
    mutating func mainProfile() {
        u(8, 1)
        u(32, 0x6000_0000)
        u(4, 0b1001)
        u(32, 0)
        u(12, 0)
        u(8, 93)
    }
}

extension BitWriter {
    /// One sub-layer of hrd_parameters() with one schedule.
    mutating func schedule(bitRate: Int) {
        flag(true)
        for value in [0, 0, bitRate, 199] { ue(value) }
        flag(false)
    }

    /// The shortest picture parameter set with an extension, as far as the extension.
    mutating func screenContentPictureParameterSet() {
        for value in [0, 0] { ue(value) }
        flags(false, false)
        u(3, 0)
        flags(false, false)
        for value in [0, 0] { ue(value) }
        se(0)
        flags(false, false, false)
        for value in [0, 0] { se(value) }
        flags(false, false, false, false, false, false, false, false, false, false)
        ue(0)
        flags(false, true)
        u(8, 0b0001_0000)
    }
}
