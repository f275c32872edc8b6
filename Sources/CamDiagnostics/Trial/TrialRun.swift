import Bitstream
import CamPictures
import CamPlatform
import Capture
import Decoder
import Encoder
import Glibc

/// One pass of the test pictures through an encoder, and back through a software decoder.
final class TrialRun {
    /// The measurements.
    struct Measurement {
        var pictureCount = 0
        var decodedCount = 0
        var byteCount = 0
        /// The bits in the fullest window, and the promise of the encoder for it.
        var largestWindow = 0
        var promise: RatePromise?
        /// The time of the encoder for all pictures.
        var duration = Duration.zero
        /// The time from each picture to its access unit.
        var latencies: [Duration] = []
        var squaredError = 0.0
        var sampleCount = 0

        /// Nil if every sample is the same.
        var psnr: Double? {
            squaredError == 0 ? nil : 10 * log10(255 * 255 * Double(sampleCount) / squaredError)
        }
    }

    private let pictures: TrialPictures
    private let session: CompressionSession
    private let assembler: AccessUnitAssembler
    private let decoder: DecompressionSession
    private let progress: () -> Void
    /// The time at which each picture went to the encoder, by number.
    private var starts: [Instant] = []
    /// When the encoder began what it does now.
    private var start = Instant.now
    private var measurement = Measurement()
    private var rate = SlidingBitRate(window: .seconds(1), reordering: 16)
    /// Why the trial ends early: another encoder would not do.
    private var failure: (any Error)?
    /// The luma samples of the picture to compare with.
    private var original: [UInt8]

    /// - Parameters:
    ///   - session: has one rendition, and has not encoded yet.
    ///   - progress: called for each picture that goes in or comes out.
    init(pictures: TrialPictures, session: CompressionSession, codec: Codec, progress: @escaping () -> Void) {
        (self.pictures, self.session, self.progress) = (pictures, session, progress)
        assembler = AccessUnitAssembler(codec: codec)
        var configuration = DecoderConfiguration(codec: codec)
        configuration.acceleration = .none
        decoder = DecompressionSession(configuration)
        original = [UInt8](repeating: 0, count: pictures.format.size.width * pictures.format.size.height)
    }

    /// Encodes pictures one by one, and compares each with the decoded picture.
    func measure(count: Int) throws -> Measurement {
        for rendition in session.renditions {
            rendition.onAccessUnit = { [unowned self] in take($0) }
            rendition.onEvent = { [unowned self] in note($0) }
        }
        for number in 0..<count {
            let buffer = pictures.buffer(number)
            progress()
            start = .now
            starts.append(start)
            if case .damaged(let error) = session.encode(buffer) { throw error }
            measurement.duration += .now - start
            try check()
        }
        start = .now
        session.finish()
        measurement.duration += .now - start
        try check()
        try assembler.finish(decode)
        decoder.drain()
        try takePictures()
        rate.finish()
        measurement.largestWindow = rate.largestWindow
        return measurement
    }

    private func check() throws {
        if let error = failure ?? session.renditions.first?.error { throw error }
    }

    private func note(_ event: Rendition.Event) {
        switch event {
        case .opened(let promise):
            measurement.promise = promise
            if let promise { rate = SlidingBitRate(window: .seconds(promise.window), reordering: 16) }
        case .replaced(let cause, _): failure = failure ?? cause
        case .changed, .ended: break
        }
    }

    private func take(_ unit: AccessUnit) -> Rendition.Demand {
        progress()
        let now = Instant.now
        measurement.duration += now - start
        measurement.pictureCount += 1
        measurement.byteCount += unit.count
        rate.add(timestamp: unit.timestamp, bits: unit.count * 8)
        if starts.indices.contains(unit.frameNumber) {
            measurement.latencies.append(now - starts[unit.frameNumber])
        }
        do { try unit.withUnsafeBytes { try assembler.add($0.bytes, decode) } } catch {
            failure = failure ?? error
        }
        // The time for decoding does not count.
        start = .now
        return .more
    }

    private func decode(_ unit: borrowing ReceivedAccessUnit) throws {
        try decoder.decode(unit)
        try takePictures()
    }

    private func takePictures() throws {
        while let picture = try decoder.nextPicture() { compare(picture) }
    }

    private func compare(_ picture: borrowing DecodedPicture) {
        let (width, height) = (pictures.format.size.width, pictures.format.size.height)
        guard picture.layout != nil, picture.width >= width, picture.height >= height else { return }
        original.withUnsafeMutableBytes { pictures.drawLuma(picture.number, into: $0) }
        measurement.squaredError += picture.withPlane(0) { rows, stride in
            var sum = 0
            for row in 0..<height {
                for column in 0..<width {
                    let difference = Int(original[row * width + column]) - Int(rows[row * stride + column])
                    sum += difference * difference
                }
            }
            return Double(sum)
        }
        measurement.sampleCount += width * height
        measurement.decodedCount += 1
    }
}

// MARK: Test pictures

/// The pictures of an encoder trial: a moving texture with new noise in every picture, which can use up any
/// bit rate. Each picture can be drawn again for comparison with the decoded one.
struct TrialPictures {
    let format: PictureFormat
    private let pool: PixelBufferPool
    private let width: Int
    private let height: Int
    /// Random bytes for the size of a picture and one more row.
    private let texture: [UInt8]

    /// The shift of the texture from one picture to the next, in luma samples.
    private static let step = 3
    /// The offset of the noise from one picture to the next, a prime.
    private static let noiseStep = 7919

    init(size: PictureSize, frameRate: FrameRate) throws(CaptureError) {
        guard
            let format = PictureFormat(
                .nv12, size: size, frameRate: frameRate, color: ColorEncoding(range: .limited, matrix: .bt709)
            )
        else { throw CaptureError(.unsupported("no NV12 pictures of \(size)"), device: "the trial") }
        self.format = format
        (width, height) = (size.width, size.height)
        pool = try .forSource(count: 1, length: format.minimumLengths[0])
        // xorshift32 (Marsaglia 2003).
        var state: UInt32 = 2_463_534_242
        texture = (0..<(width * height + width)).map { _ in
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    /// Returns a picture for an encoder. Precondition: the previous picture was destroyed.
    func buffer(_ number: Int) -> PixelBuffer {
        let memory = pool.memory(ofBuffer: 0, plane: 0)
        drawLuma(number, into: memory)
        memory[(width * height)...].initializeMemory(as: UInt8.self, repeating: 128)
        var payloads = InlineArray<3, PixelBuffer.Payload>(repeating: .init())
        payloads[0] = PixelBuffer.Payload(length: format.minimumLengths[0])
        return PixelBuffer(
            pool: pool, index: 0, payloads: payloads, format: format, sequence: UInt32(number),
            timestamp: .start + format.frameRate.time(ofFrame: number))
    }

    /// Draws the luma samples of a picture, row by row, into memory with room for them.
    func drawLuma(_ number: Int, into picture: UnsafeMutableRawBufferPointer) {
        let noise = number * Self.noiseStep % (width * height)
        let shift = number * Self.step % (8 * width)
        texture.withUnsafeBufferPointer { texture in
            for row in 0..<height {
                for column in 0..<width {
                    let place = row * width + column
                    // Blocks of 16x16 samples with a value of the texture, and noise of 4 bits.
                    let block = (row / 16) * width + (column + shift) / 16
                    let grain = place + noise < texture.count ? place + noise : place + noise - texture.count
                    picture[place] = 48 + texture[block] / 2 + texture[grain] / 16
                }
            }
        }
    }
}
