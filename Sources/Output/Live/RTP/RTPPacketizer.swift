import Bitstream

/// Splits NAL units into RTP packets (RFC 3550, RFC 6184, RFC 7798).
///
/// A NAL unit that fits is a packet of its own; a longer one is split into fragmentation units.
struct RTPPacketizer {
    /// The dynamic payload type that the session description names.
    static let payloadType: UInt8 = 96
    private(set) var stream: RTPStream
    private let codec: Codec

    /// - Parameters:
    ///   - source: random, so that no two streams of a session share it.
    ///   - sequence: the first packet's number, random as well.
    init(codec: Codec, source: UInt32, sequence: UInt16) {
        self.codec = codec
        stream = RTPStream(.pictures, payloadType: Self.payloadType, source: source, sequence: sequence)
    }

    /// Appends a picture's packets.
    /// - Parameter timestamp: its time, on the stream's clock of 90 kHz.
    mutating func append(_ unit: AccessUnit, timestamp: UInt32, to bytes: inout [UInt8]) {
        unit.withUnsafeBytes { content in
            for (index, nalUnit) in unit.units.enumerated() {
                append(
                    UnsafeRawBufferPointer(rebasing: content[nalUnit.bytes]),
                    isLast: index == unit.units.count - 1,
                    timestamp: timestamp, to: &bytes)
            }
        }
    }

    private mutating func append(
        _ nalUnit: UnsafeRawBufferPointer, isLast: Bool, timestamp: UInt32, to bytes: inout [UInt8]
    ) {
        guard nalUnit.count > RTPStream.mostPayload else {
            stream.begin(payload: nalUnit.count, hasMarker: isLast, timestamp: timestamp, to: &bytes)
            bytes += nalUnit
            return
        }
        let header = FragmentHeader(of: nalUnit, codec)
        let mostContent = RTPStream.mostPayload - header.length
        var rest = nalUnit.dropFirst(header.replacedLength)
        var isFirst = true
        while !rest.isEmpty {
            let part = rest.prefix(mostContent)
            rest = rest.dropFirst(part.count)
            stream.begin(
                payload: header.length + part.count, hasMarker: isLast && rest.isEmpty, timestamp: timestamp,
                to: &bytes)
            header.append(isFirst: isFirst, isLast: rest.isEmpty, to: &bytes)
            bytes += part
            isFirst = false
        }
    }
}

/// What each fragment of a NAL unit begins with, in place of the unit's own header.
private struct FragmentHeader {
    /// The indicator: the unit's header with the type of a fragmentation unit.
    private let indicator: (UInt8, UInt8?)
    private let type: UInt8

    /// RFC 6184, 5.8 (FU-A); RFC 7798, 4.4.3.
    init(of nalUnit: UnsafeRawBufferPointer, _ codec: Codec) {
        switch codec {
        case .h264:
            indicator = (nalUnit[0] & 0xe0 | 28, nil)
            type = nalUnit[0] & 0x1f
        case .hevc:
            indicator = (nalUnit[0] & 0x81 | 49 << 1, nalUnit[1])
            type = nalUnit[0] >> 1 & 0x3f
        }
    }

    /// In bytes.
    var length: Int { indicator.1 == nil ? 2 : 3 }
    /// The bytes of the NAL unit's header, which it stands for.
    var replacedLength: Int { length - 1 }

    func append(isFirst: Bool, isLast: Bool, to bytes: inout [UInt8]) {
        bytes.append(indicator.0)
        if let second = indicator.1 { bytes.append(second) }
        bytes.append((isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | type)
    }
}
