import Bitstream
import CFFmpeg
import Capture

/// A compression session: pictures in, access units of the guaranteed shape out.
///
/// Everything is called from one thread, the encode thread.
public final class VideoEncoder: PictureEncoder {
    /// What was opened.
    public let details: EncoderDetails
    /// The same, for people: codec, device, entry point, profile, rate control.
    public var name: String { details.name }
    /// How it was set up, where that is not obvious.
    public let notes: [EncoderNote]
    /// The coded picture's size: the camera's, rounded up to even.
    public let size: PictureSize
    /// What the stream says of its colours.
    public let color: ColorEncoding

    /// For vaSyncSurface and its kin there is no time limit.
    public var waitsForHardware: Bool { details.renderNode != nil }

    private let session: CodecSession
    private let input: any EncoderInput
    private var finisher: StreamFinisher
    private var pending = PendingFrames()
    /// Tells whoever opened the session how far it got.
    let progress = EncoderProgress()

    init(
        session: consuming CodecSession, input: any EncoderInput, properties: SessionProperties,
        details: EncoderDetails
    ) throws(EncoderError) {
        let amender = ParameterSetAmender(
            size: properties.size, color: properties.color, frameRate: properties.frameRate)
        finisher = StreamFinisher(
            codec: properties.codec, encoder: details.name,
            slicesPerPicture: properties.slices == 1 ? 1 : nil, amender: amender)
        try finisher.prime(extradata: session.extradata)
        self.session = session
        self.input = input
        self.details = details
        notes = properties.notes
        size = properties.size
        color = properties.color
    }

    public func encode(
        _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
    ) throws(EncoderError) {
        let frame = try input.frame(for: buffer)
        frame.pointee.pts = Int64(frameNumber)
        frame.pointee.pict_type = kind == .idr ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        try session.send(frame)
        pending.append(
            PendingFrames.Frame(
                number: frameNumber, timestamp: buffer.timestamp, sequence: buffer.sequence,
                isIDRWanted: kind == .idr))
    }

    public func releasePicture() { input.release() }

    public func nextAccessUnit() throws(EncoderError) -> AccessUnit? {
        while let packet = try session.receive() {
            if let unit = try finish(packet) { return unit }
        }
        return nil
    }

    /// Nil for a packet without a picture.
    private func finish(_ packet: UnsafeMutablePointer<AVPacket>) throws(EncoderError) -> AccessUnit? {
        guard let frame = pending.remove(number: Int(packet.pointee.pts)) else {
            throw EncoderError(
                .encodeFailed(
                    encoder: name, detail: "it gave out picture \(packet.pointee.pts), which it never got"))
        }
        let bytes = UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
        let unit = try finisher.finish(bytes, frame)
        if unit != nil { progress.hasProduced = true }
        return unit
    }

    public func drain() throws(EncoderError) { try session.send(nil) }
}
