/// One message of supplemental enhancement information (H.264: 7.3.2.3.1, Annex D; H.265: 7.3.5, Annex D).
public struct SEIMessage: Equatable, Sendable {
    /// The standard that it follows.
    public let codec: Codec
    /// What the payload is; see `name`.
    public let payloadType: Int
    /// Bytes of the payload, without emulation prevention bytes.
    public let payloadSize: Int
    /// The understood payload.
    public let content: Content

    /// What a message says.
    public enum Content: Equatable, Sendable {
        /// Buffering from here on; with the id of the sequence parameter set in use.
        case bufferingPeriod(sequenceParameterSetID: Int)
        /// Timing and structure of a picture in H.264.
        case h264PictureTiming(H264.PictureTiming)
        /// Timing and structure of a picture in H.265.
        case hevcPictureTiming(H265.PictureTiming)
        /// Data of a kind that is registered by ITU-T T.35, such as captions.
        case registeredUserData(RegisteredUserData)
        /// Data of a kind identified by a UUID, such as an encoder's settings.
        case unregisteredUserData(UnregisteredUserData)
        /// Decoding may begin here.
        case recoveryPoint(RecoveryPoint)
        /// How light is coded, in place of the `transfer_characteristics` of the VUI.
        case alternativeTransfer(preferred: Int)
        /// A payload that is not read: of another type, or one that depends on an unknown parameter set.
        case unread
        /// A payload that does not follow its syntax.
        case damaged(SyntaxError)
    }
}

extension SEIMessage {
    /// sei_message() (H.264: 7.3.2.3.1, H.265: 7.3.5).
    init(_ reader: inout RBSPReader, _ parameterSets: StreamParameterSets) throws(SyntaxError) {
        codec = parameterSets.codec
        var payload: RBSPReader
        (payloadType, payloadSize, payload) = try Self.split(&reader)
        do throws(SyntaxError) {
            content = try Self.content(&payload, type: payloadType, parameterSets)
        } catch {
            content = .damaged(error)
        }
    }

    /// The next message's type and size, and a reader of its payload alone.
    static func split(
        _ reader: inout RBSPReader
    ) throws(SyntaxError) -> (type: Int, size: Int, payload: RBSPReader) {
        // Both limits keep a run of bytes of 255 short.
        let type = try sum(&reader, last: "last_payload_type_byte", limit: 0xFFFF)
        let size = try sum(&reader, last: "last_payload_size_byte", limit: reader.byteCount)
        return (type, size, try reader.split(byteCount: size, "sei_payload"))
    }

    /// A number as the sum of its bytes; all except the last are 255.
    private static func sum(
        _ reader: inout RBSPReader, last: String, limit: Int
    ) throws(SyntaxError) -> Int {
        var sum = 0
        while reader.isNextByteAllOnes, sum <= limit { sum += try reader.u(8, "ff_byte") }
        guard sum <= limit else {
            throw reader.error(last, .outOfRange(value: sum, allowed: 0...limit))
        }
        return sum + (try reader.u(8, last))
    }

    /// sei_payload() (H.264: D.1.1, H.265: D.2.1).
    private static func content(
        _ reader: inout RBSPReader, type: Int, _ parameterSets: StreamParameterSets
    ) throws(SyntaxError) -> Content {
        switch (type, parameterSets.codec) {
        case (0, .h264): try H264.bufferingPeriod(&reader, parameterSets.h264)
        case (0, .hevc): try H265.bufferingPeriod(&reader, parameterSets.hevc)
        case (1, .h264):
            if let set = parameterSets.h264.latestSequence {
                .h264PictureTiming(try H264.PictureTiming(&reader, set))
            } else {
                .unread
            }
        case (1, .hevc):
            if let set = parameterSets.hevc.latestSequence {
                .hevcPictureTiming(try H265.PictureTiming(&reader, set))
            } else {
                .unread
            }
        case (4, _): .registeredUserData(try RegisteredUserData(&reader))
        case (5, _): .unregisteredUserData(try UnregisteredUserData(&reader))
        case (6, let codec): .recoveryPoint(try RecoveryPoint(&reader, codec))
        // H.264: D.1.31, H.265: D.2.37.
        case (147, _): .alternativeTransfer(preferred: try reader.u(8, "preferred_transfer_characteristics"))
        default: .unread
        }
    }
}
