import CFFmpeg
import CamAcceleration
import CamConversion
import CamPictures

extension PNGImage {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Whether bytes begin with the signature of a PNG file.
    public static func isPNG(_ bytes: [UInt8]) -> Bool { bytes.starts(with: signature) }

    /// Decodes the picture of a PNG file with libavcodec, without its transparency.
    /// - Throws: `.unreadableImage` if it is damaged or too large.
    public static func decodeLuma(_ bytes: [UInt8]) throws(DecoderError) -> GrayPicture {
        // Checked before memory is allocated for the picture.
        guard let size = size(bytes) else {
            throw DecoderError(
                .unreadableImage(detail: "its header is damaged, or it has more than 64 million pixels"))
        }
        let image = try PictureConverter(to: .rgb24).convert(try decode(bytes))
        guard image.width == size.width, image.height == size.height else {
            throw DecoderError(.unreadableImage(detail: "its header is damaged"))
        }
        let levels = image.withPlane(0) { rows, stride in
            (0..<size.area).map { pixel in
                let sample = pixel / size.width * stride + pixel % size.width * 3
                return UInt8((Int(rows[sample]) + 2 * Int(rows[sample + 1]) + Int(rows[sample + 2])) / 4)
            }
        }
        guard let picture = GrayPicture(size: size, levels: levels) else {
            preconditionFailure("a level for each pixel")
        }
        return picture
    }

    /// More than any camera has, and few enough for the memory of usual machines.
    private static let mostPixels = 64_000_000

    /// Returns the size in the header, which is the first chunk.
    private static func size(_ bytes: [UInt8]) -> PictureSize? {
        let (name, width, height) = (12, 16, 20)
        guard isPNG(bytes), bytes.count >= 33, bytes[name..<name + 4].elementsEqual("IHDR".utf8) else {
            return nil
        }
        func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        return PictureSize(number(width), number(height)).flatMap { $0.area <= mostPixels ? $0 : nil }
    }

    private static func decode(_ bytes: [UInt8]) throws(DecoderError) -> DecodedPicture {
        cffmpeg_keep_log()
        guard let decoder = avcodec_find_decoder(AV_CODEC_ID_PNG) else {
            throw DecoderError(.unreadableImage(detail: "this libavcodec was built without its decoder"))
        }
        var (allocated, allocatedPacket) = (avcodec_alloc_context3(decoder), av_packet_alloc())
        defer {
            avcodec_free_context(&allocated)
            av_packet_free(&allocatedPacket)
        }
        guard let context = allocated, let packet = allocatedPacket, let frame = av_frame_alloc() else {
            throw DecoderError(.outOfMemory)
        }
        let picture = DecodedPicture(taking: frame)
        // Adds the zeros that decoders require after a packet.
        guard let count = Int32(exactly: bytes.count), av_new_packet(packet, count) == 0 else {
            throw DecoderError(.outOfMemory)
        }
        bytes.withUnsafeBufferPointer { bytes in
            if let start = bytes.baseAddress { packet.pointee.data.update(from: start, count: bytes.count) }
        }
        cffmpeg_clear_log()
        try checkReading(avcodec_open2(context, decoder, nil))
        try checkReading(avcodec_send_packet(context, packet))
        try checkReading(avcodec_send_packet(context, nil))
        try checkReading(avcodec_receive_frame(context, frame))
        return picture
    }

    private static func checkReading(_ result: Int32) throws(DecoderError) {
        guard result < 0 else { return }
        throw DecoderError(.unreadableImage(detail: LibavMessage.reason(result)))
    }
}

// MARK: Encoding

extension DecodedPicture {
    /// Encodes the picture as RGB in its size, and returns the PNG file.
    public consuming func png() throws(DecoderError) -> [UInt8] {
        let image = try PictureConverter(to: .rgb24).convert(self)
        do throws(ImageError) { return try PNGImage.encode(image.frame) } catch {
            throw DecoderError(.image(error))
        }
    }
}
