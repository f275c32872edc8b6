/// The messages of a NAL unit of supplemental enhancement information.
public struct SupplementalEnhancementInformation: Equatable, Sendable {
    /// The most messages read from one unit. Limits the memory that a malicious stream can occupy.
    public static let maximumMessageCount = 1024

    /// The messages in stream order, up to the error, if any.
    public let messages: [SEIMessage]
    /// Why reading ended early; `nil` if it did not.
    public let error: SyntaxError?

    /// Reads a NAL unit of type 6 in H.264, 39 or 40 in H.265, given without start code.
    ///
    /// - Parameter parameterSets: the sets in force, which also determine the coding standard. Elements
    ///   that depend on a missing set are not read.
    public init(_ nalUnit: RawSpan, parameterSets: StreamParameterSets) {
        var messages: [SEIMessage] = []
        error = nalUnit.withUnsafeBytes { bytes in
            do throws(SyntaxError) {
                var reader = try Self.reader(of: bytes, parameterSets.codec)
                try Self.read(&reader, parameterSets, into: &messages)
                return nil
            } catch {
                return error
            }
        }
        self.messages = messages
    }

    private static func reader(
        of bytes: UnsafeRawBufferPointer, _ codec: Codec
    ) throws(SyntaxError) -> RBSPReader {
        switch codec {
        case .h264: try RBSPReader.h264(bytes) { $0 == .supplementalEnhancementInformation }.1
        case .hevc: try RBSPReader.hevc(bytes) { $0 == .prefixSEI || $0 == .suffixSEI }.1
        }
    }

    /// The first recovery point in a NAL unit; `nil` without a recovery point, after an unreadable message,
    /// and for units of other types. Allocates nothing.
    public static func recoveryPoint(in nalUnit: RawSpan, _ codec: Codec) -> RecoveryPoint? {
        nalUnit.withUnsafeBytes { bytes in
            guard var reader = try? Self.reader(of: bytes, codec) else { return nil }
            for _ in 0..<maximumMessageCount {
                guard var message = try? SEIMessage.split(&reader) else { return nil }
                if message.type == 6 { return try? RecoveryPoint(&message.payload, codec) }
                guard reader.hasMoreData else { return nil }
            }
            return nil
        }
    }

    /// sei_rbsp() (H.264: 7.3.2.3, H.265: 7.3.2.4).
    static func read(
        _ reader: inout RBSPReader, _ parameterSets: StreamParameterSets, into messages: inout [SEIMessage]
    ) throws(SyntaxError) {
        repeat {
            guard messages.count < maximumMessageCount else {
                throw reader.error(
                    "sei_message",
                    .outOfRange(value: messages.count + 1, allowed: 1...maximumMessageCount))
            }
            messages.append(try SEIMessage(&reader, parameterSets))
        } while reader.hasMoreData
    }

    /// Reads the messages only to record their elements; also throws for the first damaged payload.
    static func readElements(
        _ reader: inout RBSPReader, _ parameterSets: StreamParameterSets
    ) throws(SyntaxError) {
        var messages: [SEIMessage] = []
        try read(&reader, parameterSets, into: &messages)
        for message in messages {
            if case .damaged(let error) = message.content { throw error }
        }
    }
}

// MARK: - Recovery points

/// A place where decoding may begin, though not with an IDR picture (H.264: D.1.8, D.2.8; H.265: D.2.8,
/// D.3.8).
public struct RecoveryPoint: Equatable, Sendable {
    /// The distance to the first correct picture: in H.264 `recovery_frame_cnt`, in values of `frame_num`,
    /// 0 or more; in H.265 `recovery_poc_cnt`, in picture order counts, which may be negative.
    public let count: Int
    /// Whether the recovered pictures are identical to the pictures of a decoder that started earlier.
    public let exact_match_flag: Bool
    /// Whether the following pictures may refer to pictures that differ from the encoder's reference
    /// pictures.
    public let broken_link_flag: Bool
    /// The effect of slice groups on the recovery, 0 to 2; `nil` in H.265.
    public let changing_slice_group_idc: Int?

    /// recovery_point().
    init(_ reader: inout RBSPReader, _ codec: Codec) throws(SyntaxError) {
        count =
            switch codec {
            case .h264: try reader.ue("recovery_frame_cnt", in: 0...0xFFFF)
            case .hevc: try reader.se("recovery_poc_cnt", in: -0x8000...0x7FFF)
            }
        exact_match_flag = try reader.flag("exact_match_flag")
        broken_link_flag = try reader.flag("broken_link_flag")
        changing_slice_group_idc =
            codec == .h264 ? try reader.u(2, "changing_slice_group_idc", in: 0...2) : nil
    }
}
