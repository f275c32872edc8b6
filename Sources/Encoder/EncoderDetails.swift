import Bitstream

/// What was opened, piece by piece.
public struct EncoderDetails: Sendable, Hashable {
    /// The standard that it codes by.
    public let codec: Codec
    /// libavcodec's name of it: `h264_vaapi`, `hevc_vaapi`, `libx264` or `libx265`.
    public let implementation: String
    /// Nil for software.
    public let renderNode: String?
    /// What the driver calls itself; nil for software.
    public let driver: String?
    /// Nil for software.
    public let entryPoint: EncoderCapabilities.EntryPoint?
    /// The codec's profile.
    public let profile: EncoderConfiguration.Profile
    /// How many bits a picture gets.
    public internal(set) var rateControl: RateControl

    init(_ candidate: VAAPIBackend.Candidate?, _ properties: SessionProperties) {
        codec = properties.codec
        implementation = candidate == nil ? SoftwareBackend.name(codec) : VAAPIBackend.name(codec)
        renderNode = candidate?.connection.node
        driver = candidate?.connection.driver
        entryPoint = candidate?.entryPoint
        profile = properties.profile
        rateControl = properties.rateControl
    }

    /// Which encoder, without how it is set up.
    var label: String {
        guard let renderNode, let entryPoint else { return implementation }
        return "\(implementation) on \(renderNode) (\(entryPoint.rawValue))"
    }

    /// All in one line.
    var name: String { "\(label), \(profile), \(rateControl)" }
}
