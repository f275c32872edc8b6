import CamPlatform

/// User data with a UUID that identifies its kind (H.264: D.1.7, D.2.7; H.265: D.2.7, D.3.7).
public struct UnregisteredUserData: Equatable, Sendable {
    /// `uuid_iso_iec_11578`: the 16 bytes of the UUID.
    public let uuid: [UInt8]
    /// `user_data_payload_byte`: the data.
    public let payload: [UInt8]

    /// The UUID in its usual form, such as x264's `dc45e9bd-e6d9-48b7-962c-d820d923eeef`.
    public var uuidText: String {
        var text = ""
        for (index, byte) in uuid.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    /// The data as text, the form in which x264 and x265 write their settings: UTF-8 without control
    /// characters, except zeros at the end; `nil` for other data.
    public var text: String? {
        let end = payload.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        let bytes = payload[..<end]
        let isPrintable = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x09 }
        return isPrintable && !bytes.isEmpty ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// The capture time of the picture (MISB ST 0604); `nil` for other data.
    public var captureTime: WallTime? { CaptureTimeMessage.time(uuid: uuid, payload: payload) }

    /// user_data_unregistered( payloadSize ).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        var uuid: [UInt8] = []
        for i in 0..<16 { uuid.append(UInt8(try reader.u(8, "uuid_iso_iec_11578", i))) }
        self.uuid = uuid
        payload = reader.remainingBytes("user_data_payload_byte")
    }
}

/// User data of a kind registered by ITU-T T.35 (H.264: D.1.6, D.2.6; H.265: D.2.6, D.3.6).
public struct RegisteredUserData: Equatable, Sendable {
    /// The country whose authority registered the kind; 181 is the United States.
    public let itu_t_t35_country_code: Int
    /// The second byte of the country code; only after code 255.
    public let itu_t_t35_country_code_extension_byte: Int?
    /// `itu_t_t35_payload_byte`: the provider's code and its data.
    public let payload: [UInt8]

    /// The kinds of data, which the first bytes identify.
    public enum Kind: Sendable {
        /// Captions of digital television (ATSC A/53 Part 4, 6.2.3: cc_data()).
        case captions
        /// The area of the actual picture within the frame (ATSC A/53 Part 4, 6.2.4: bar_data()).
        case barData
        /// The active format description (ATSC A/53 Part 4, 6.2.5: afd_data()).
        case activeFormatDescription
        /// Data of any other kind.
        case other
    }

    /// The kind of data, from its first bytes.
    public var kind: Kind {
        guard itu_t_t35_country_code == 0xB5, payload.starts(with: [0x00, 0x31]) else { return .other }
        let data = payload.dropFirst(2)
        if data.starts(with: Array("DTG1".utf8)) { return .activeFormatDescription }
        guard data.starts(with: Array("GA94".utf8)) else { return .other }
        return switch data.dropFirst(4).first {
        case 3: .captions
        case 6: .barData
        default: .other
        }
    }

    /// user_data_registered_itu_t_t35( payloadSize ).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        itu_t_t35_country_code = try reader.u(8, "itu_t_t35_country_code")
        itu_t_t35_country_code_extension_byte =
            itu_t_t35_country_code == 0xFF
            ? try reader.u(8, "itu_t_t35_country_code_extension_byte") : nil
        payload = reader.remainingBytes("itu_t_t35_payload_byte")
    }
}
