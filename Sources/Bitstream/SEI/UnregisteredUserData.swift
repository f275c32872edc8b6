/// User data of a kind identified by a UUID (H.264: D.1.7, D.2.7; H.265: D.2.7, D.3.7).
public struct UnregisteredUserData: Equatable, Sendable {
    /// `uuid_iso_iec_11578`: the 16 bytes of the UUID.
    public let uuid: [UInt8]
    /// `user_data_payload_byte`: the data.
    public let payload: [UInt8]

    /// The UUID in its usual form, such as `dc45e9bd-e6d9-48b7-962c-d820d923eeef`, which is x264's.
    public var uuidText: String {
        var text = ""
        for (index, byte) in uuid.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    /// The data as text, as x264 and x265 write their settings: UTF-8 without control characters, except
    /// zeros at the end; `nil` if it is something else.
    public var text: String? {
        let end = payload.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        let bytes = payload[..<end]
        let isPrintable = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x09 }
        return isPrintable && !bytes.isEmpty ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// user_data_unregistered( payloadSize ).
    init(_ reader: inout RBSPReader) throws(SyntaxError) {
        var uuid: [UInt8] = []
        for i in 0..<16 { uuid.append(UInt8(try reader.u(8, "uuid_iso_iec_11578", i))) }
        self.uuid = uuid
        payload = reader.remainingBytes("user_data_payload_byte")
    }
}
