import CamPlatform

/// The SEI message with the capture time of a picture: MISB ST 0604, in `user_data_unregistered` (H.264: D.1.7,
/// H.265: D.2.7), as GStreamer and tools for aerial video read it.
///
/// The message is a NAL unit of its own directly before the slices, so a buffering period message stays the first
/// message (H.264 7.4.1.2.3). It needs no emulation prevention, because the time has a byte 255 after every second byte.
package struct CaptureTimeMessage: Sendable {
    /// The message's NAL unit without start code.
    private(set) var nalUnit: [UInt8]
    /// Where the status and the time begin.
    private let bodyOffset: Int

    /// `payloadType` of user_data_unregistered.
    private static let payloadType: UInt8 = 5
    /// The status and the time with its markers (ST 0604.6, ST 0603.5).
    private static let bodyLength = 12
    /// The time is normal, and it is unknown whether the system's clock is synchronized.
    private static let status: UInt8 = 0x9F
    private static let marker: UInt8 = 0xFF

    /// The number of bytes that a message adds to an access unit, start code included.
    package static func byteCount(_ codec: Codec) -> Int {
        AccessUnit.startCodeLength + CaptureTimeMessage(codec: codec).nalUnit.count
    }

    /// Creates a message without a time.
    init(codec: Codec) {
        let header: [UInt8] =
            switch codec {
            case .h264: [UInt8(H264.NALUnitType.supplementalEnhancementInformation.rawValue)]
            case .hevc: [UInt8(H265.NALUnitType.prefixSEI.rawValue << 1), 1]
            }
        let identifier = Self.identifier(codec)
        let head = header + [Self.payloadType, UInt8(identifier.count + Self.bodyLength)] + identifier
        bodyOffset = head.count
        // Ends with rbsp_trailing_bits().
        nalUnit = head + [UInt8](repeating: Self.marker, count: Self.bodyLength) + [0x80]
        nalUnit[bodyOffset] = Self.status
    }

    /// Sets the time, and for H.265 the temporal sub-layer of the picture: that of a message cannot be lower (H.265
    /// 7.4.2.2). Allocates nothing.
    mutating func set(_ time: WallTime, for slice: NALUnitHeader) {
        if case .hevc(let header) = slice { nalUnit[1] = UInt8(header.nuh_temporal_id_plus1) }
        let microseconds = UInt64(bitPattern: time.nanoseconds / 1000)
        for index in 0..<8 {
            // Two bytes, then a marker.
            nalUnit[bodyOffset + 1 + index + index / 2] = UInt8(
                truncatingIfNeeded: microseconds >> UInt64(56 - 8 * index))
        }
    }

    // MARK: Kinds of times

    private static let h264Microseconds = Array("MISPmicrosectime".utf8)
    private static let hevcMicroseconds: [UInt8] = [
        0xA8, 0x68, 0x7D, 0xD4, 0xD7, 0x59, 0x37, 0x58, 0xA5, 0xCE, 0xF0, 0x33, 0x8B, 0x65, 0x45, 0xF1,
    ]
    private static let hevcNanoseconds: [UInt8] = [
        0xCF, 0x84, 0x82, 0x78, 0xEE, 0x23, 0x30, 0x6C, 0x92, 0x65, 0xE8, 0xFE, 0xF2, 0x2F, 0xB8, 0xB8,
    ]

    /// What identifies the times that camrec writes.
    private static func identifier(_ codec: Codec) -> [UInt8] {
        codec == .h264 ? h264Microseconds : hevcMicroseconds
    }

    // MARK: Reading

    /// The time in user data, which begins with a UUID, of any of the three kinds; nil for other data.
    package static func time(userData: RawSpan) -> WallTime? {
        userData.withUnsafeBytes { bytes in
            let uuidLength = h264Microseconds.count
            guard bytes.count >= uuidLength + bodyLength else { return nil }
            return time(uuid: Array(bytes[..<uuidLength]), payload: Array(bytes[uuidLength...]))
        }
    }

    /// The time in user data of any of the three kinds; nil for other data and for times before 1970.
    static func time(uuid: [UInt8], payload: [UInt8]) -> WallTime? {
        let nanosecondsPerUnit: Int64
        switch uuid {
        case h264Microseconds, hevcMicroseconds: nanosecondsPerUnit = 1000
        case hevcNanoseconds: nanosecondsPerUnit = 1
        default: return nil
        }
        guard payload.count >= bodyLength else { return nil }
        var value: UInt64 = 0
        for index in 0..<8 {
            if index > 0, index % 2 == 0, payload[index + index / 2] != marker { return nil }
            value = value << 8 | UInt64(payload[1 + index + index / 2])
        }
        let (nanoseconds, didOverflow) = Int64(bitPattern: value).multipliedReportingOverflow(
            by: nanosecondsPerUnit)
        return didOverflow || nanoseconds < 0 ? nil : WallTime(nanoseconds: nanoseconds)
    }
}

// MARK: - Times of pictures

extension AccessUnit {
    /// When the picture was captured, by its SEI messages (MISB ST 0604); nil if none states it.
    public var captureTime: WallTime? {
        withUnsafeBytes { SupplementalEnhancementInformation.captureTime(inPicture: $0.bytes, codec) }
    }
}

extension SupplementalEnhancementInformation {
    /// The latest capture time before the first slice: a camera's own message may precede the recorder's.
    fileprivate static func captureTime(inPicture bytes: RawSpan, _ codec: Codec) -> WallTime? {
        var time: WallTime?
        var scanner = NALUnitScanner()
        while let unit = scanner.next(in: bytes) {
            let nalUnit = bytes.extracting(unit.bytes)
            guard let header = NALUnitHeader(of: nalUnit, codec: codec) else { continue }
            if header.isSlice { break }
            if header.isSupplementalEnhancementInformation {
                time = captureTime(in: nalUnit, codec) ?? time
            }
        }
        return time
    }

    private static func captureTime(in nalUnit: RawSpan, _ codec: Codec) -> WallTime? {
        let information = SupplementalEnhancementInformation(
            nalUnit, parameterSets: StreamParameterSets(codec: codec))
        return information.messages.lazy.reversed().compactMap { message in
            guard case .unregisteredUserData(let data) = message.content else { return nil }
            return data.captureTime
        }.first
    }
}
