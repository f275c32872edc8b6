import Bitstream
import CFFmpeg
import Testing
import CamPlatform

@testable import Encoder
@testable import CamPictures
@testable import CamConversion

/// Encoders that read a camera's buffers.
@Suite struct SharedInputTests {
    @Test("a buffer is the encoder's until its picture is coded")
    func owner() throws {
        let film = try Film()
        let (encoder, pool) = (try Self.encoder(of: film), try Self.pool(of: film, count: 12))
        var free: [Int] = []
        var coded = 0
        for number in 0..<12 {
            let buffer = try Self.picture(film, number, in: pool)
            try encoder.encode(buffer, as: number == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
            _ = consume buffer
            while try encoder.nextAccessUnit() != nil { coded += 1 }
            free += Self.returned(pool)
            #expect(free.count == coded, "after picture \(number)")
        }
        #expect((1..<12).contains(coded), "B pictures make it hold some back")
        try encoder.drain()
        while try encoder.nextAccessUnit() != nil { coded += 1 }
        free += Self.returned(pool)
        #expect(coded == 12 && Set(free) == Set(0..<12), "each comes back once")
    }

    @Test("an encoder that ends, or hangs, gives its buffers back", arguments: [false, true])
    func end(hangs: Bool) throws {
        let film = try Film()
        let pool = try Self.pool(of: film, count: 3)
        var encoder = Optional(try Self.encoder(of: film))
        for number in 0..<3 {
            let buffer = try Self.picture(film, number, in: pool)
            try encoder?.encode(buffer, as: number == 0 ? .idr : .automatic, frameNumber: number)
            encoder?.releasePicture()
        }
        #expect(Self.returned(pool).isEmpty)
        if hangs { encoder?.giveBuffersBack() } else { encoder = nil }
        #expect(Set(Self.returned(pool)) == [0, 1, 2])
        encoder = nil
        #expect(Self.returned(pool).isEmpty, "once is enough")
    }

    @Test("a driver that returns when its encoder was given up keeps no buffer")
    func lateReturn() throws {
        let film = try Film()
        let pool = try Self.pool(of: film, count: 3)
        let encoder = try Self.encoder(of: film)
        for number in 0..<3 {
            let buffer = try Self.picture(film, number, in: pool)
            if number == 2 { encoder.giveBuffersBack() }
            try encoder.encode(buffer, as: number == 0 ? .idr : .automatic, frameNumber: number)
            encoder.releasePicture()
        }
        #expect(Set(Self.returned(pool)) == [0, 1, 2])
        try encoder.drain()
        while try encoder.nextAccessUnit() != nil {}
        #expect(Self.returned(pool).isEmpty, "once is enough")
    }

    @Test("the buffers of pictures that an encoder lost go back to the camera")
    func lostPictures() throws {
        let film = try Film()
        let (pool, held) = (try Self.pool(of: film, count: 8), HeldBuffers())
        for number in 0..<8 { held.hold(try Self.picture(film, number, in: pool), number: number) }
        #expect(Self.returned(pool).isEmpty)
        held.letGo(ofNumber: 3)
        #expect(Self.returned(pool) == [3], "B pictures come out after those that follow them")
        held.letGo(ofNumber: 6)
        #expect(Self.returned(pool) == [0, 1, 6])
    }

    // MARK: What is encoded

    private static func pool(of film: Film, count: Int) throws -> PixelBufferPool {
        try sharedPool(count: count, length: film.format.minimumLengths[0])
    }

    private static func picture(_ film: Film, _ number: Int, in pool: PixelBufferPool) throws -> PixelBuffer {
        var payloads: InlineArray<3, PixelBuffer.Payload> = .init(repeating: .init())
        payloads[0].length = film.format.minimumLengths[0]
        return PixelBuffer(
            pool: pool, index: number, payloads: payloads, format: film.format, sequence: UInt32(number),
            timestamp: .start + .milliseconds(40) * number)
    }

    /// The buffers that came back since the last look.
    private static func returned(_ pool: PixelBufferPool) -> [Int] {
        let bits = pool.takeReturned()
        return (0..<32).filter { bits & 1 << UInt32($0) != 0 }
    }

    /// libx264 with B pictures, as if it read the camera's buffers as a GPU does.
    private static func encoder(of film: Film) throws -> VideoEncoder {
        var configuration = CompressionProperties()
        configuration.bFrames = 2
        let properties = try SessionProperties(
            configuration, source: film.format, framing: Framing(),
            limits: SessionProperties.Limits(
                encoder: X264.name, profiles: [.high],
                rateControlModes: Set(RateControl.Mode.allCases), maximumSize: nil, minimumSize: nil,
                maximumSlices: 32, hasBPictures: true, leastFrameDelay: X264.leastFrameDelay,
                rateTraits: .x264))
        let regulator = RateRegulator()
        let rates = SessionRates(properties, regulator, followsTime: true)
        let input = try SoftwareInput(
            source: film.format, treatment: PictureTreatment(), size: properties.size,
            color: properties.color, arrangements: [.nv12, .nv21, .i420])
        let session = try LibavEncoder(name: X264.name, options: X264.options(properties)) { context in
            context.configure(properties, rates)
            context.pointee.pix_fmt = input.pixelFormat
            context.pointee.thread_count = 1
        }
        return try VideoEncoder(
            session: session, input: ReadingInput(input), properties: properties,
            details: EncoderDetails(implementation: X264.name, properties), waitsForDriver: false,
            regulator: regulator, rates: rates)
    }
}

/// Says that pictures stay in the camera's buffers.
private final class ReadingInput: EncoderInput {
    private let input: SoftwareInput
    let readsBuffer = true

    init(_ input: SoftwareInput) { self.input = input }

    var thumbnail: LumaThumbnail? { nil }

    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame> {
        try input.frame(for: buffer, in: number)
    }

    func slot(_ number: Int) -> ConversionSlot? { nil }

    func release() { input.release() }
}
