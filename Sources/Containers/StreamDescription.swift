import Bitstream
import CamPictures
import CamPlatform
import CamSound

/// What a container declares about its stream, in addition to the stream itself.
public struct StreamDescription: Sendable {
    /// The coding standard.
    public var codec: Codec
    /// Width in luma samples, after cropping.
    public var width: Int
    /// Height in luma samples, after cropping.
    public var height: Int
    /// Nominal frames a second; nil if nothing is known.
    public var frameRate: FrameRate?
    /// The constant frame rate of a time lapse; nil if pictures are played at their capture times.
    public var playbackRate: FrameRate?
    /// How many pictures at most precede another in decoding order and follow it in presentation order; an
    /// upper bound suffices, such as the number of B pictures in a row. Each moves the first decoding time
    /// one frame earlier.
    public var reordering: Int
    /// The color encoding; nil if only the stream's VUI states it.
    public var color: ColorEncoding?
    /// The shape of pixels; nil if they are square, or only the stream's VUI states it.
    public var pixelAspect: PixelAspect?
    /// The encoder's name, for the file's metadata.
    public var encoder: String?
    /// The sound that belongs to the pictures; nil if there is none.
    public var sound: SoundDescription?

    /// Creates a description; by default without reordering, color and encoder.
    public init(
        codec: Codec, width: Int, height: Int, frameRate: FrameRate?,
        reordering: Int = 0, color: ColorEncoding? = nil, pixelAspect: PixelAspect? = nil,
        encoder: String? = nil
    ) {
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.reordering = reordering
        self.color = color
        self.pixelAspect = pixelAspect
        self.encoder = encoder
    }

    /// The playing time of a picture: its capture time, or its time at the constant rate of a time lapse.
    func playingTime(of unit: AccessUnit) -> Instant {
        playbackRate?.playingTime(ofFrame: unit.frameNumber) ?? unit.timestamp
    }

    /// The nominal time from one picture to the next, at least a nanosecond; if it is unknown, that of 25
    /// frames a second, which players assume.
    package var frameDuration: Duration {
        guard let frameRate else { return .milliseconds(40) }
        return .nanoseconds(Int64((1e9 / frameRate.framesPerSecond).clamped(to: 1...1e15)))
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

extension StreamDescription {
    /// Describes a stream from its parameter sets; nil without a sequence parameter set.
    /// - Parameter reordering: how far the stream actually reorders, if known.
    public init?(_ parameterSets: StreamParameterSets, reordering: Int? = nil) {
        switch parameterSets.codec {
        case .h264:
            guard let set = parameterSets.h264.latestSequence else { return nil }
            self.init(
                codec: .h264, width: set.width, height: set.height, frameRate: set.frameRate,
                reordering: reordering ?? set.maxNumReorderFrames,
                color: set.vui_parameters?.colorEncoding)
        case .hevc:
            guard let set = parameterSets.hevc.latestSequence else { return nil }
            self.init(
                codec: .hevc, width: set.width, height: set.height, frameRate: set.pictureRate,
                reordering: reordering ?? set.maxNumReorderPictures,
                color: set.vui_parameters?.colorEncoding)
        }
    }
}
