/// What a container declares about its sound.
public struct SoundDescription: Sendable, Hashable {
    /// How it is coded.
    public let codec: SoundCodec
    /// How it is sampled.
    public let format: SoundFormat
    /// Bits a second, as requested; nil if the codec decides.
    public let bitRate: Int?
    /// What a decoder needs first, as containers store it: AudioSpecificConfig, OpusHead or STREAMINFO.
    public let configuration: [UInt8]
    /// Frames in a packet.
    public let packetFrames: Int

    /// Creates a description.
    public init(
        codec: SoundCodec, format: SoundFormat, bitRate: Int? = nil, configuration: [UInt8],
        packetFrames: Int
    ) {
        (self.codec, self.format, self.bitRate, self.configuration) = (codec, format, bitRate, configuration)
        self.packetFrames = packetFrames
    }
}
