import Bitstream
import CamPictures
import CamPlatform

/// Opens a recording's encoders for one rendition: the first one, and replacements for those that fail.
///
/// Used by one thread at a time: the one that starts the recording, then the encode thread.
package protocol EncoderProvider: AnyObject {
    /// The coding standard of its encoders.
    var codec: Codec { get }

    /// The interval from one regular keyframe to the next.
    var keyframeInterval: KeyframeInterval { get }

    /// The encoder in use, and why others were passed over; nil before the first `open`.
    var choice: EncoderChoice? { get }

    /// The properties that the current encoder's stream declares.
    var stream: EncodedStream { get }

    /// The time from one picture that it takes to the next; nil if it takes every picture.
    var pictureInterval: Duration? { get }

    /// Converts the pictures for the encoders of all renditions; nil if each takes the source's own.
    var sourceConversion: SourceConversion? { get }

    /// Opens an encoder. The previous one must have been released or abandoned.
    /// - Parameter watch: monitors the calls into a driver.
    func open(_ watch: CallWatch) throws(EncoderError) -> any PictureEncoder

    /// Changes the rate: in the open encoder if possible, otherwise in encoders opened from now on. An
    /// average replaces a constant quantizer or quality, and a lower maximum. If no encoder accepts the new
    /// rate, the old rate stays.
    /// - Returns: whether the open encoder can continue; otherwise open another encoder.
    func change(_ change: RateChange) -> Bool

    /// Opens encoders for pictures of another format from now on.
    func follow(_ source: PictureFormat)

    /// Records that the open encoder failed or hung. Call it before opening a replacement.
    func noteFailure()

    /// Stops sharing state with open encoders, because a thread hangs in one of them.
    func discardSharedState()

    /// Stops opening encoders that wait for a driver, after repeated failures.
    /// - Returns: false if there is no other encoder, or none of them was in use.
    func giveUpDrivers() -> Bool
}

extension EncoderProvider {
    /// Ignores failures by default.
    package func noteFailure() {}

    /// By default, every picture of the source is taken as it is.
    package var pictureInterval: Duration? { nil }
    package var sourceConversion: SourceConversion? { nil }
}

// MARK: - The chosen encoder

/// An encoder that was opened.
public struct EncoderChoice: Sendable {
    /// The encoder's properties; nil if the camera encodes.
    public let details: EncoderDetails?
    /// The name for messages.
    public let name: String
    /// Why each encoder that would have come before it was passed over.
    public let passedOver: [String]
    /// Remarks on the setup, where it is not obvious.
    public let notes: [EncoderNote]
    /// Who decoded the camera's Motion JPEG so far; nil for other formats, and without a GPU.
    public let jpeg: JPEGOutcome?
    /// How many pictures a GPU has read in place so far; nil without a GPU.
    public let sharing: SharingOutcome?

    /// Describes an encoder by its name.
    public init(
        details: EncoderDetails?, name: String, passedOver: [String] = [], notes: [EncoderNote] = [],
        jpeg: JPEGOutcome? = nil, sharing: SharingOutcome? = nil
    ) {
        self.details = details
        self.name = name
        self.passedOver = passedOver
        self.notes = notes
        self.jpeg = jpeg
        self.sharing = sharing
    }
}

/// The properties of an open encoder.
public struct EncoderDetails: Sendable, Hashable {
    /// The coding standard.
    public let codec: Codec
    /// The encoder's name in libavcodec: `h264_vaapi`, `hevc_vaapi`, `libx264` or `libx265`.
    public let implementation: String
    /// The GPU's render node; nil for software.
    public let renderNode: String?
    /// The driver's name for itself; nil without a driver.
    public let driver: String?
    /// The VA-API entry point; nil for software.
    public let entryPoint: VAAPICapabilities.EntryPoint?
    /// The coded pictures' size.
    public let size: PictureSize
    /// The codec's profile.
    public let profile: CompressionProperties.Profile
    /// How many bits a picture gets.
    public internal(set) var rateControl: RateControl
    /// Whether the encoder uses one processor but could use several with `--slices` or `--latency
    /// throughput`.
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

/// A remark on how an encoder was set up, in one sentence.
public struct EncoderNote: Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String
    /// Whether the encoder deviates from the user's request.
    public let contradictsRequest: Bool

    init(_ description: String, contradictsRequest: Bool) {
        self.description = description
        self.contradictsRequest = contradictsRequest
    }

    /// - Parameter unmet: says what part of the request is not fulfilled.
    init(unmet: String) { self.init(unmet, contradictsRequest: true) }
}

// MARK: - The encoded stream

/// The properties that an open encoder's stream declares.
public struct EncodedStream: Sendable {
    /// The size of the shown picture.
    public let size: PictureSize
    /// The nominal frame rate.
    public let frameRate: FrameRate
    /// The frame rate of a time lapse, at which frames are played; nil for a stream that plays as captured.
    public let playbackRate: FrameRate?
    /// Range, matrix, primaries and transfer.
    public let color: ColorEncoding
    /// The shape of the pixels; nil for square pixels.
    public let pixelAspect: PixelAspect?
    /// The largest number of B pictures in a row.
    public let bFrames: Int

    /// Describes a stream of pictures in a source's format.
    public init(of source: PictureFormat, bFrames: Int = 0, playbackRate: FrameRate? = nil) {
        (size, pixelAspect, color) = (source.size, source.pixelAspect, source.color)
        frameRate = playbackRate ?? source.frameRate
        self.playbackRate = playbackRate
        self.bFrames = bFrames
    }

    /// Describes an encoder's stream.
    /// - Parameter frameRate: the nominal rate of the pictures that it takes.
    init(at frameRate: FrameRate, by encoder: VideoEncoder, bFrames: Int, playbackRate: FrameRate?) {
        (size, pixelAspect, color) = (encoder.size, encoder.pixelAspect, encoder.color)
        self.frameRate = playbackRate ?? frameRate
        self.playbackRate = playbackRate
        self.bFrames = bFrames
    }
}
