import Bitstream
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Decoder
@testable import Encoder

/// A moving picture, coded by camrec's software encoders.
struct CodedFilm {
    let codec: Codec
    var width = 128
    var height = 96
    var keyframeInterval = 10
    var bFrames = 0
    var slices = 1
    var entropyMode: CompressionProperties.EntropyMode?

    /// One access unit per frame; the first and every tenth is an IDR.
    func accessUnits(_ count: Int) throws -> [[UInt8]] {
        let source = try TestSource(
            CaptureRequest(size: PictureSize(width, height), frameRate: FrameRate(25)), isPaced: false)
        var configuration = CompressionProperties()
        configuration.codec = codec
        configuration.keyframeInterval = .frames(keyframeInterval)
        configuration.bFrames = bFrames
        configuration.slices = slices
        configuration.entropyMode = entropyMode
        let encoder = try SoftwareBackend.open(
            configuration, source: source.format, inputs: EncoderInputs(codecs: [codec]),
            regulator: RateRegulator())
        var units: [[UInt8]] = []
        func collect() throws {
            while let unit = try encoder.nextAccessUnit() { units.append(unit.withUnsafeBytes { Array($0) }) }
        }
        for number in 0..<count {
            guard case .buffer(let buffer) = try source.nextBuffer() else { break }
            try encoder.encode(
                buffer, as: number % keyframeInterval == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            try collect()
        }
        try encoder.drain()
        try collect()
        return units
    }
}

extension [UInt8] {
    /// Bytes of the last NAL unit, without its start code.
    var lastUnitLength: Int {
        get throws {
            let start = indices.dropLast(2).last { self[$0...].starts(with: [0, 0, 1]) }
            return count - (try #require(start) + 3)
        }
    }
}

/// A decoded picture's samples.
struct Samples: Equatable {
    let number: Int
    let arrival: Instant?
    let width: Int
    let height: Int
    let planes: [[UInt8]]

    init(_ picture: borrowing DecodedPicture) {
        (number, arrival) = (picture.number, picture.arrival)
        (width, height) = (picture.width, picture.height)
        var planes: [[UInt8]] = []
        // Nothing is compared for a format that no film has.
        guard let layout = picture.layout else {
            self.planes = planes
            return
        }
        for plane in 0..<layout.planeCount {
            let size = layout.planeSize(plane, width: width, height: height)
            planes.append(
                picture.withPlane(plane) { rows, stride in
                    (0..<size.rowCount).flatMap { rows[$0 * stride..<$0 * stride + size.rowByteCount] }
                })
        }
        self.planes = planes
    }
}

/// Gathers and decodes, as a receiver does.
final class Receiver {
    let assembler: AccessUnitAssembler
    let decoder: DecompressionSession
    private(set) var pictures: [Samples] = []
    /// The bytes of all access units.
    private(set) var bytes: [UInt8] = []
    /// Which access units are skipped, by kind and number.
    var isSkipped: (PictureRole, Int) -> Bool = { _, _ in false }

    init(_ codec: Codec, _ configure: (inout DecoderConfiguration) -> Void = { _ in }) {
        var configuration = DecoderConfiguration(codec: codec)
        configuration.acceleration = .none
        configure(&configuration)
        assembler = AccessUnitAssembler(codec: codec)
        decoder = DecompressionSession(configuration)
    }

    /// Everything that comes out of a stream in chunks like these.
    static func receive(
        _ stream: [UInt8], _ codec: Codec, chunkLength: Int = .max,
        _ configure: (inout DecoderConfiguration) -> Void = { _ in }
    ) throws -> Receiver {
        let receiver = Receiver(codec, configure)
        var position = 0
        while position < stream.count {
            let end = chunkLength < stream.count - position ? position + chunkLength : stream.count
            try receiver.take(Array(stream[position..<end]))
            position = end
        }
        try receiver.finish()
        return receiver
    }

    func take(_ chunk: [UInt8], arrival: Instant? = nil) throws {
        try assembler.add(chunk.span.bytes, arrival: arrival, decode)
    }

    /// The stream pauses.
    func rest() throws {
        try assembler.anticipate { unit in
            if let picture = try decoder.anticipate(unit) { pictures.append(Samples(picture)) }
        }
    }

    func finish() throws {
        try assembler.finish(decode)
        decoder.drain()
        try takePictures()
    }

    private func decode(_ unit: borrowing ReceivedAccessUnit) throws {
        bytes += unit.withUnsafeBytes { Array($0) }
        if isSkipped(unit.role, unit.number) { try decoder.skip(unit) } else { try decoder.decode(unit) }
        try takePictures()
    }

    private func takePictures() throws {
        while let picture = try decoder.nextPicture() { pictures.append(Samples(picture)) }
    }

    var numbers: [Int] { pictures.map(\.number) }
}
