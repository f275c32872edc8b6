import Bitstream
import Decoder
import FuzzSupport

/// Receives a stream like camplay, up to converted pictures, including libavcodec's software decoders.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    var configuration = DecoderConfiguration(codec: Codec.allCases[input.choice(0...1)])
    configuration.lossPolicy = input.choice(0...1) == 0 ? .freeze : .show
    configuration.delay = input.choice(0...1) == 0 ? .low : .safe
    configuration.acceleration = .none
    configuration.maximumSampleCount = 256 * 256
    let layout = PictureLayout.allCases[input.choice(0...3)]
    receive(input.chunks(), DecompressionSession(configuration), PictureConverter(to: layout))
    return 0
}

private func receive(_ chunks: [[UInt8]], _ decoder: DecompressionSession, _ converter: PictureConverter) {
    let assembler = AccessUnitAssembler(codec: decoder.configuration.codec, byteLimit: 1 << 20)
    func take(_ unit: borrowing ReceivedAccessUnit) {
        // If no decoder opens for these parameter sets, that is an ordinary error.
        guard (try? decoder.decode(unit)) != nil else { return }
        takePictures()
    }
    func takePictures() {
        while let picture = try? decoder.nextPicture() { look(at: picture, converter) }
    }
    for chunk in chunks { assembler.add(chunk.span.bytes, take) }
    assembler.finish(take)
    decoder.drain()
    takePictures()
    let counters = decoder.counters
    promise(counters.decoded == 0 || counters.received > 0, "pictures come of access units")
    promise(counters.losses == 0 || decoder.lastLoss?.isEmpty == false, "a loss has words")
}

/// Reads every sample, original and converted: AddressSanitizer detects a missing one.
private func look(at picture: consuming DecodedPicture, _ converter: PictureConverter) {
    let (width, height) = (picture.width, picture.height)
    promise(width > 0 && height > 0 && width * height <= 256 * 256, "no picture is above the limit")
    addSamples(of: picture)
    guard let converted = try? converter.convert(picture) else { return }
    promise((converted.width, converted.height) == (width, height), "a converted picture keeps its size")
    promise(converted.layout == converter.layout, "it has the form wanted")
    addSamples(of: converted)
}

private func addSamples(of picture: borrowing DecodedPicture) {
    guard let layout = picture.layout else { return }
    var sum = 0
    for plane in 0..<layout.planeCount {
        let size = layout.planeSize(plane, width: picture.width, height: picture.height)
        sum += picture.withPlane(plane) { rows, stride in
            promise(stride >= size.rowByteCount, "rows do not overlap")
            return (0..<size.rowCount).reduce(0) { sum, row in
                rows[row * stride..<row * stride + size.rowByteCount].reduce(sum) { $0 &+ Int($1) }
            }
        }
    }
    promise(sum >= 0, "samples are bytes")
}
