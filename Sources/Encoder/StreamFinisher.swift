import Bitstream

/// The last step before an access unit leaves: brings an encoder's packet into the guaranteed shape, then
/// checks the bytes that will be written.
struct StreamFinisher {
    private let codec: Codec
    private let encoder: String
    private let slicesPerPicture: Int?
    private var shaper: StreamShaper
    private var checker: StreamShapeChecker
    private let skipsToFirstIDR: Bool

    /// - Parameters:
    ///   - slicesPerPicture: nil for any number.
    ///   - amender: corrects the encoder's parameter sets; nil leaves them as they are.
    ///   - skipsToFirstIDR: pictures before the first IDR are passed over; else they are an error.
    init(
        codec: Codec, encoder: String, slicesPerPicture: Int?, amender: ParameterSetAmender?,
        skipsToFirstIDR: Bool = false
    ) {
        self.codec = codec
        self.skipsToFirstIDR = skipsToFirstIDR
        self.encoder = encoder
        self.slicesPerPicture = slicesPerPicture
        shaper = StreamShaper(
            pool: AccessUnitPool(codec: codec), amendParameterSets: amender.map { $0.amend })
        checker = StreamShapeChecker(codec: codec, slicesPerPicture: slicesPerPicture)
    }

    /// Takes the parameter sets that an encoder returns outside its packets; many return none.
    mutating func prime(extradata: UnsafeRawBufferPointer) throws(EncoderError) {
        guard !extradata.isEmpty else { return }
        do {
            shaper.prime(parameterSets: try ParameterSets(annexB: extradata.bytes, codec: codec))
        } catch {
            throw EncoderError(.openFailed(encoder: encoder, detail: "its parameter sets: \(error)"))
        }
    }

    /// Requires an IDR next, because decoding must start over. Parameter sets stay known.
    mutating func expectIDR() {
        shaper.expectIDR()
        checker = StreamShapeChecker(codec: codec, slicesPerPicture: slicesPerPicture)
    }

    /// Nil for a packet without a picture.
    mutating func finish(
        _ packet: UnsafeRawBufferPointer, _ frame: PendingFrames.Frame
    ) throws(EncoderError) -> AccessUnit? {
        do {
            guard
                let unit = try shaper.shape(
                    packet.bytes, frameNumber: frame.number, sequence: frame.sequence,
                    timestamp: frame.timestamp)
            else { return nil }
            try checker.check(unit, expectsIDR: frame.isIDRWanted ? true : nil)
            return unit
        } catch let error as StreamShapeError where error.rule == .startsWithoutIDR && skipsToFirstIDR {
            return nil
        } catch {
            throw EncoderError(.encodeFailed(encoder: encoder, detail: "\(error)"))
        }
    }
}
