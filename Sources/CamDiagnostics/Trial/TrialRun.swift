import Bitstream
import Decoder
import Encoder
import Glibc
import CamPlatform

/// One pass of the trial's pictures through an encoder, and back through a software decoder.
final class TrialRun {
    /// The measurements.
    struct Measurement {
        var pictureCount = 0
        var decodedCount = 0
        var byteCount = 0
        /// Bits in the fullest window, and the encoder's promise for it.
        var largestWindow = 0
        var promise: RatePromise?
        /// The time that the encoder took for all pictures.
        var duration = Duration.zero
        /// From each picture to its access unit.
        var latencies: [Duration] = []
        var squaredError = 0.0
        var sampleCount = 0

        /// Nil if every sample is the same.
        var psnr: Double? {
            squaredError == 0 ? nil : 10 * log10(255 * 255 * Double(sampleCount) / squaredError)
        }
    }

    private let pictures: TrialPictures
    private let encoder: any PictureEncoder
    private let gatherer: AccessUnitGatherer
    private let decoder: PictureDecoder
    /// When each picture was given to the encoder; by its number.
    private var starts: [Instant] = []
    private var measurement = Measurement()
    private var rate: SlidingBitRate
    /// The luma samples of the picture to compare with.
    private var original: [UInt8]

    init(pictures: TrialPictures, encoder: any PictureEncoder, codec: Codec) {
        self.pictures = pictures
        self.encoder = encoder
        rate = SlidingBitRate(window: .seconds(encoder.ratePromise?.window ?? 1), reordering: 16)
        gatherer = AccessUnitGatherer(codec: codec)
        var configuration = DecoderConfiguration(codec: codec)
        configuration.acceleration = .none
        decoder = PictureDecoder(configuration)
        original = [UInt8](repeating: 0, count: pictures.format.size.width * pictures.format.size.height)
    }

    /// Encodes pictures one by one, and compares each with its decoded form.
    func measure(count: Int, keyframeInterval: Int, progress: () -> Void) throws -> Measurement {
        for number in 0..<count {
            let buffer = pictures.buffer(number)
            let start = Instant.now
            starts.append(start)
            try encoder.encode(
                buffer, as: number % keyframeInterval == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            _ = consume buffer
            try takeUnits(since: start, progress)
        }
        let end = Instant.now
        try encoder.drain()
        try takeUnits(since: end, progress)
        try gatherer.finish(decode)
        decoder.drain()
        try takePictures()
        rate.finish()
        (measurement.largestWindow, measurement.promise) = (rate.largestWindow, encoder.ratePromise)
        return measurement
    }

    /// - Parameter start: when the encoder was called.
    private func takeUnits(since start: Instant, _ progress: () -> Void) throws {
        var start = start
        progress()
        while let unit = try encoder.nextAccessUnit() {
            progress()
            let now = Instant.now
            measurement.duration += now - start
            measurement.pictureCount += 1
            measurement.byteCount += unit.count
            rate.add(timestamp: unit.timestamp, bits: unit.count * 8)
            if starts.indices.contains(unit.frameNumber) {
                measurement.latencies.append(now - starts[unit.frameNumber])
            }
            try unit.withUnsafeBytes { try gatherer.gather($0.bytes, decode) }
            // Time for decoding does not count as the encoder's.
            start = .now
        }
        measurement.duration += .now - start
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
