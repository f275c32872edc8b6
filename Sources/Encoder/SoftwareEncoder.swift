import Bitstream
import CFFmpeg

/// A software encoder that this machine's libavcodec was built with.
public struct SoftwareEncoder: Sendable {
    /// libavcodec's name for it.
    public let name: String
    /// Its coding standard.
    public let codec: Codec
    /// Best first.
    public let profiles: [EncoderConfiguration.Profile]

    /// All of them.
    public static func all() -> [SoftwareEncoder] {
        Codec.allCases.compactMap { codec in
            let name = SoftwareBackend.name(codec)
            guard avcodec_find_encoder_by_name(name) != nil else { return nil }
            return SoftwareEncoder(
                name: name, codec: codec,
                profiles: EncoderConfiguration.Profile.allCases.reversed().filter { $0.isDefined(in: codec) })
        }
    }
}
