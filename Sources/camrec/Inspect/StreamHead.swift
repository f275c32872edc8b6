import Bitstream

/// The first bytes of a stream, as many as needed to recognize it.
struct StreamHead {
    private let options: InspectReadingOptions
    private let lengthSize: AVCC.LengthSize
    private let record: DecoderConfigurationRecord?
    private(set) var bytes: [UInt8] = []
    /// Whether they are the whole stream.
    private(set) var isWhole = false

    /// A recognized kind of stream.
    enum Form {
        case raw(Codec, NALUnitSource.Framing)
        /// A container, demultiplexed by libavformat.
        case container(StreamContainer)
    }

    /// - Parameter record: the separately stored configuration record of a stream of length-prefixed NAL units.
    init(
        _ options: InspectReadingOptions, lengthSize: AVCC.LengthSize, record: DecoderConfigurationRecord?
    ) {
        self.options = options
        self.lengthSize = lengthSize
        self.record = record
    }

    /// Reads until the kind of stream is clear.
    mutating func recognize(
        _ input: StreamInput, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(InspectSession.Failure) -> Form {
        if let record {
            try readOn(input, buffer)
            bytes = record.prefix(ofStreamBeginningWith: bytes.span.bytes) + bytes
            return .raw(record.codec, .lengthPrefixed(record.lengthSize))
        }
        if let codec = options.codec, let form = options.from { return .raw(codec, framing(form)) }
        while true {
            try readOn(input, buffer)
            if let kind = StreamKind(
                head: bytes.span.bytes, isWhole: isWhole, codec: options.codec,
                framing: options.from.map(framing))
            {
                return try form(kind, input.name)
            }
        }
    }

    private mutating func readOn(
        _ input: StreamInput, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(InspectSession.Failure) {
        let count: Int
        do throws(StreamInput.Failure) { count = try input.read(into: buffer) } catch { throw .input(error) }
        isWhole = count == 0
        bytes += UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    private func framing(_ form: StreamForm) -> NALUnitSource.Framing {
        form == .annexb ? .annexB : .lengthPrefixed(lengthSize)
    }

    private func form(_ kind: StreamKind, _ name: String) throws(InspectSession.Failure) -> Form {
        switch kind {
        case .stream(let codec, let framing): return .raw(codec, framing)
        case .container(let container): return .container(container)
        case .other(let container):
            throw .badInput(
                "\(name): offset 0: this is \(container), which camrec does not read; extract the video first: "
                    + "ffmpeg -i FILE -map 0:v -c copy out.h264")
        case .empty: throw .badInput("\(name): offset 0: it is empty; nothing to inspect")
        case .unknown:
            throw .badInput(
                "\(name): offset 0: no H.264 or H.265 in the first \(bytes.count) bytes; "
                    + "if it is one anyway, add --codec and --from")
        }
    }
}
