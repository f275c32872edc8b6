import Bitstream
import CamPictures

/// The properties of an open encoder.
public struct EncoderDetails: Sendable, Hashable {
    /// The coding standard.
    public let codec: Codec
    /// libavcodec's name for it: `h264_vaapi`, `hevc_vaapi`, `libx264` or `libx265`.
    public let implementation: String
    /// Nil if it does not run on one.
    public let renderNode: String?
    /// What the driver calls itself; nil without one.
    public let driver: String?
    /// VA-API's way into the hardware; nil for other interfaces and for software.
    public let entryPoint: VAAPICapabilities.EntryPoint?
    /// The coded pictures' size.
    public let size: PictureSize
    /// The codec's profile.
    public let profile: EncoderConfiguration.Profile
    /// How many bits a picture gets.
    public internal(set) var rateControl: RateControl
    /// Whether it works on one processor, where it could use several with `--slices` or `--latency throughput`.
    public let isSingleThreaded: Bool

    init(
        implementation: String, renderNode: String? = nil, driver: String? = nil,
        entryPoint: VAAPICapabilities.EntryPoint? = nil, isSingleThreaded: Bool = false,
        _ properties: SessionProperties
    ) {
        self.implementation = implementation
        self.renderNode = renderNode
        self.driver = driver
        self.entryPoint = entryPoint
        self.isSingleThreaded = isSingleThreaded
        codec = properties.codec
        size = properties.size
        profile = properties.profile
        rateControl = properties.rateControl
    }

    /// Identifies the encoder, regardless of its settings.
    var label: String {
        guard let renderNode, let entryPoint else { return implementation }
        return "\(implementation) on \(renderNode) (\(entryPoint.rawValue))"
    }

    /// The label, the profile and the rate control in one line.
    var name: String { "\(label), \(profile), \(rateControl)" }
}
