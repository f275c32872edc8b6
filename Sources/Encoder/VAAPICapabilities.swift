import CamAcceleration
import Bitstream
import CFFmpeg
import CVAAPI
import CamPictures

/// The capabilities of one entry point of a render node, according to its driver.
public struct VAAPICapabilities: Sendable, Hashable {
    /// A VA-API encode entry point.
    public enum EntryPoint: String, Sendable, Hashable, CaseIterable {
        /// The programmable path.
        case encSlice = "EncSlice"
        /// Fixed function, called low power.
        case encSliceLP = "EncSliceLP"

        var vaEntrypoint: VAEntrypoint { self == .encSlice ? VAEntrypointEncSlice : VAEntrypointEncSliceLP }
    }

    /// A VA-API profile, by its VA-API name. The best profile of each codec comes first.
    public enum Profile: String, Sendable, Hashable, CaseIterable {
        case h264High = "H264High"
        case h264Main = "H264Main"
        case h264ConstrainedBaseline = "H264ConstrainedBaseline"
        case hevcMain = "HEVCMain"
        case hevcMain10 = "HEVCMain10"

        var codec: Codec {
            switch self {
            case .h264High, .h264Main, .h264ConstrainedBaseline: .h264
            case .hevcMain, .hevcMain10: .hevc
            }
        }

        var vaProfile: VAProfile {
            switch self {
            case .h264High: VAProfileH264High
            case .h264Main: VAProfileH264Main
            case .h264ConstrainedBaseline: VAProfileH264ConstrainedBaseline
            case .hevcMain: VAProfileHEVCMain
            case .hevcMain10: VAProfileHEVCMain10
            }
        }
    }

    /// A header that the application may write instead of the driver (`va.h`, VAConfigAttribEncPackedHeaders).
    public enum PackedHeader: String, Sendable, Hashable, CaseIterable {
        case sequence, picture, slice, misc
        case rawData = "raw data"

        fileprivate var bit: Int32 {
            switch self {
            case .sequence: VA_ENC_PACKED_HEADER_SEQUENCE
            case .picture: VA_ENC_PACKED_HEADER_PICTURE
            case .slice: VA_ENC_PACKED_HEADER_SLICE
            case .misc: VA_ENC_PACKED_HEADER_MISC
            case .rawData: VA_ENC_PACKED_HEADER_RAW_DATA
            }
        }
    }

    public let profile: Profile
    /// Programmable or fixed function.
    public let entryPoint: EntryPoint
    /// Never empty for a driver that encodes.
    public let rateControlModes: Set<RateControl.Mode>
    public let packedHeaders: [PackedHeader]
    /// The smallest picture; nil if the driver names no limit.
    public let minimumSize: PictureSize?
    /// The largest picture; nil if the driver names no limit.
    public let maximumSize: PictureSize?
    /// The maximum number of slices in a picture; 1 if the driver does not report it.
    public let maximumSlices: Int
    /// Whether B pictures are possible.
    public let hasBPictures: Bool

    public var codec: Codec { profile.codec }
}

extension VAAPICapabilities {
    /// Returns the name of a render node's driver and its encoding capabilities.
    public static func ofRenderNode(
        _ node: String
    ) throws(EncoderError) -> (driver: String, capabilities: [VAAPICapabilities]) {
        let connection = try VADisplayConnection(forEncodingOn: node)
        return (connection.driver, try query(connection, codecs: Codec.allCases))
    }

    /// Returns every profile and encode entry point of a driver for the codecs, best profiles first.
    static func query(
        _ connection: VADisplayConnection, codecs: [Codec]
    ) throws(EncoderError) -> [VAAPICapabilities] {
        try connection.encodingCall {
            Profile.allCases.filter { codecs.contains($0.codec) }.flatMap { profile in
                let entryPoints = connection.entryPoints(of: profile.vaProfile)
                return EntryPoint.allCases.filter { entryPoints.contains($0.vaEntrypoint) }.compactMap {
                    VAAPICapabilities(connection.display, profile, $0)
                }
            }
        }
    }

    /// Nil if the driver does not have this profile with this entry point for 4:2:0 surfaces.
    private init?(
        _ display: VADisplay, _ profile: Profile, _ entryPoint: EntryPoint
    ) {
        let types = [
            VAConfigAttribRTFormat, VAConfigAttribRateControl, VAConfigAttribEncPackedHeaders,
            VAConfigAttribEncMaxSlices, VAConfigAttribEncMaxRefFrames, VAConfigAttribPredictionDirection,
        ]
        var attributes = types.map { VAConfigAttrib(type: $0, value: 0) }
        guard
            vaGetConfigAttributes(
                display, profile.vaProfile, entryPoint.vaEntrypoint, &attributes, Int32(attributes.count))
                == VA_STATUS_SUCCESS
        else { return nil }
        let values = attributes.map { $0.value == UInt32(VA_ATTRIB_NOT_SUPPORTED) ? nil : $0.value }
        guard let formats = values[0], formats & UInt32(VA_RT_FORMAT_YUV420) != 0 || profile == .hevcMain10
        else { return nil }
        self.profile = profile
        self.entryPoint = entryPoint
        rateControlModes = Self.modes(values[1])
        packedHeaders = PackedHeader.allCases.filter { (values[2] ?? 0) & UInt32($0.bit) != 0 }
        maximumSlices = Int(clamping: values[3] ?? 1)
        // Reference frames in list 1 indicate B pictures, except for drivers that predict from the past only:
        // iHD's H.265 uses list 1 for generalized P pictures.
        let looksAhead = values[5].map { $0 & UInt32(VA_PREDICTION_DIRECTION_FUTURE) != 0 } ?? true
        hasBPictures = (values[4] ?? 0) >> 16 != 0 && looksAhead
        let limits = Self.surfaceLimits(display, profile.vaProfile, entryPoint)
        minimumSize = PictureSize(limits.minimumWidth, limits.minimumHeight)
        maximumSize = PictureSize(limits.maximumWidth, limits.maximumHeight)
    }

    private struct SurfaceLimits {
        var minimumWidth = 0
        var minimumHeight = 0
        var maximumWidth = 0
        var maximumHeight = 0
    }

    /// The size limits of a session's surfaces; zeros if the driver does not report them.
    private static func surfaceLimits(
        _ display: VADisplay, _ profile: VAProfile, _ entryPoint: EntryPoint
    ) -> SurfaceLimits {
        var limits = SurfaceLimits()
        var config = VAConfigID()
        guard
            vaCreateConfig(display, profile, entryPoint.vaEntrypoint, nil, 0, &config) == VA_STATUS_SUCCESS
        else { return limits }
        defer { vaDestroyConfig(display, config) }
        var count: UInt32 = 0
        guard vaQuerySurfaceAttributes(display, config, nil, &count) == VA_STATUS_SUCCESS, count <= 1024
        else {
            return limits
        }
        var attributes = Array(repeating: VASurfaceAttrib(), count: Int(count))
        guard vaQuerySurfaceAttributes(display, config, &attributes, &count) == VA_STATUS_SUCCESS else {
            return limits
        }
        for attribute in attributes.prefix(Int(count)) where attribute.value.type == VAGenericValueTypeInteger
        {
            let value = Int(attribute.value.value.i)
            switch attribute.type {
            case VASurfaceAttribMinWidth: limits.minimumWidth = value
            case VASurfaceAttribMinHeight: limits.minimumHeight = value
            case VASurfaceAttribMaxWidth: limits.maximumWidth = value
            case VASurfaceAttribMaxHeight: limits.maximumHeight = value
            default: break
            }
        }
        return limits
    }

    /// The rate control modes; a driver that names no mode supports only constant quantizers (`va.h`,
    /// VAConfigAttribRateControl).
    private static func modes(_ bits: UInt32?) -> Set<RateControl.Mode> {
        let known: [(Int32, RateControl.Mode)] = [
            (VA_RC_CBR, .cbr), (VA_RC_VBR, .vbr), (VA_RC_CQP, .cqp), (VA_RC_ICQ, .icq), (VA_RC_QVBR, .qvbr),
        ]
        guard let bits, bits != UInt32(VA_RC_NONE) else { return [.cqp] }
        return Set(known.filter { bits & UInt32($0.0) != 0 }.map(\.1))
    }
}
