import TestSupport
import Testing

@testable import Bitstream

/// Bytes from hexadecimal digits; spaces are ignored.
func hex(_ digits: String) -> [UInt8] {
    let values = digits.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    precondition(values.count % 2 == 0, "two digits make a byte")
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}

/// NAL units of two tiny streams that x264 wrote: 64x48, Constrained Baseline.
enum Sample {
    static let sps = hex("67 42c00ada11ec0440000003004000000ca3c489a8")
    static let pps = hex("68 ce0fc8")
    static let idr = hex("65 88843a2628000902c9c9c9d75d75d75d75e0")
    static let p = hex("41 9a203e86c0")
    /// The three slices of one IDR picture.
    static let idrSlices = [
        hex("65 88843a2628000902c9c9c9e0"),
        hex("65 288843a2628000902c9c9c9e"),
        hex("65 122210e898a000240b27272780"),
    ]
    /// User data, unregistered, of one byte.
    static let sei = hex("06 0511 dc45e9bde6d948b7962cd820d923eeef 41 80")
    /// Access unit delimiters as radeonsi writes them: with an I picture only, with any.
    static let aud = hex("09 10")
    static let audAny = hex("09 f0")
    static let filler = hex("0c ffff80")
    static let endOfSequence = hex("0a")

    /// x264, 320x180 at 30 frames a second, Constrained Baseline, BT.709.
    static let baselineSPS = hex("6742c00dda05067e7c05a808080a000003000200000300791e285540")
    /// x264, 720x576 interlaced, 4:2:2, CBR with NAL HRD.
    static let interlacedSPS = hex("677a001ebcd940b424d808800000030080000019301000f420003d09c98601f1429960")
    /// x264, 70x50, 4:4:4 10 bit, cropped, full range, 30000/1001.
    static let high444SPS = hex("67f4000a90d9b28a4f171f80d3808080a000007d20001d4c01e244b2c0")

    /// The same sets with another level, as after a change of rate.
    static let changedSPS: [UInt8] = {
        var bytes = sps
        bytes[3] = 11
        return bytes
    }()
}

typealias BitWriter = TestSupport.BitWriter

extension BitWriter {
    /// The NAL unit with this header byte.
    func nalUnit(header: UInt8) -> [UInt8] { EmulationPrevention.escape(([header] + rbsp).span.bytes) }
}

/// Units with start codes of 4 bytes.
func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

/// Units with start codes of 3 bytes.
func annexB3(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 1] + $0 } }

extension AccessUnit {
    /// A copy of all bytes.
    var copy: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Copies of the NAL units.
    var nalUnits: [[UInt8]] { units.map { Array(copy[$0.bytes]) } }
}

/// The units of a buffer, found in the slow and obvious way.
func referenceScan(_ bytes: [UInt8]) -> [NALUnitScanner.Location] {
    let startCodes = bytes.indices.dropLast(2).filter {
        bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1
    }
    return startCodes.enumerated().map { index, startCode in
        var end = index + 1 < startCodes.count ? startCodes[index + 1] : bytes.count
        while end > startCode + 3, bytes[end - 1] == 0 { end -= 1 }
        let isLong = startCode > 0 && bytes[startCode - 1] == 0
        return NALUnitScanner.Location(bytes: startCode + 3..<end, startCodeLength: isLong ? 4 : 3)
    }
}

/// The units of a buffer, found by the scanner.
func scan(_ bytes: [UInt8]) -> [NALUnitScanner.Location] {
    var scanner = NALUnitScanner()
    var units: [NALUnitScanner.Location] = []
    while let unit = scanner.next(in: bytes.span.bytes) { units.append(unit) }
    return units
}

// The parsers take spans; tests have arrays, and spans do not pass through the expectation macros.

extension NALUnitScanner {
    mutating func next(in bytes: [UInt8]) -> Location? { next(in: bytes.span.bytes) }
}

extension H264.SequenceParameterSet {
    init(_ nalUnit: [UInt8]) throws(SyntaxError) { try self.init(nalUnit.span.bytes) }
}

extension H264.PictureParameterSet {
    init(
        _ nalUnit: [UInt8], sequenceParameterSet: H264.SequenceParameterSet? = nil
    ) throws(SyntaxError) {
        try self.init(nalUnit.span.bytes, sequenceParameterSet: sequenceParameterSet)
    }
}

extension H264.SliceHeader {
    init(
        _ nalUnit: [UInt8], sequenceParameterSet: H264.SequenceParameterSet? = nil
    ) throws(SyntaxError) {
        try self.init(nalUnit.span.bytes, sequenceParameterSet: sequenceParameterSet)
    }
}

extension ParameterSets {
    init(annexB bytes: [UInt8], codec: Codec = .h264) throws(SyntaxError) {
        try self.init(annexB: bytes.span.bytes, codec: codec)
    }

    @discardableResult
    mutating func insert(_ nalUnit: [UInt8]) throws(SyntaxError) -> Bool { try insert(nalUnit.span.bytes) }
}

extension EmulationPrevention {
    static func escape(_ nalUnit: [UInt8]) -> [UInt8] { escape(nalUnit.span.bytes) }
    static func unescape(_ nalUnit: [UInt8]) -> [UInt8] { unescape(nalUnit.span.bytes) }
}
