import Bitstream
import CamCommandLine
import CamPlatform
import Glibc
import Containers

/// A file or standard input, read as it comes.
final class StreamInput {
    /// Its name in messages.
    let name: String
    let descriptor: Int32
    private let isPipe: Bool
    private let length: FileLength
    private let cancellation: CancellationFlag
    /// The end of reading after a cancellation, on CLOCK_MONOTONIC; nil before one.
    private var deadline: Instant?

    /// How long a pipe's writer, which Ctrl-C also reaches, has to write the rest.
    private static let patience = Duration.seconds(2)

    /// Why a file cannot be read.
    struct Failure: Error {
        let message: String
        let status: ExitStatus
    }

    /// Opens a file, or standard input for `-`.
    init(path: String, cancellation: CancellationFlag) throws(Failure) {
        self.cancellation = cancellation
        if path == FileSink.standardOutput {
            name = "standard input"
            descriptor = STDIN_FILENO
        } else {
            name = path
            let opened = open(path, O_RDONLY | O_CLOEXEC)
            guard opened >= 0 else { throw Self.openFailure(path, errno) }
            descriptor = opened
        }
        length = FileLength(descriptor: descriptor)
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        isPipe = kind != S_IFREG
        if kind == S_IFDIR {
            if descriptor != STDIN_FILENO { close(descriptor) }
            throw Failure(message: "\(name): is a folder; name a recording", status: .noInput)
        }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Whether it supports random access.
    var isFile: Bool { !isPipe }

    /// The file's identity.
    var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

    /// Reads the available bytes, waiting for at least one.
    /// - Returns: the number of bytes read; 0 at the end, or when the wait is interrupted.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            guard waitForBytes() else { return 0 }
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count == 0, length.hasShrunk {
                throw Failure(
                    message: InputError(.shrunk, input: name).description, status: .inputOutput)
            }
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else {
                let cause = String(cString: strerror(errno))
                throw Failure(message: "\(name): reading failed: \(cause)", status: .inputOutput)
            }
        }
    }

    /// - Returns: false if reading should end.
    private func waitForBytes() -> Bool {
        guard isPipe else { return !cancellation.isRaised }
        if deadline == nil {
            guard cancellation.wait(for: descriptor) == .interrupted else { return true }
            deadline = .now + Self.patience
        }
        return WaitResult.wait(for: descriptor, unless: nil, until: deadline) == .ready
    }

    private static func openFailure(_ path: String, _ code: Int32) -> Failure {
        let cause = String(cString: strerror(code))
        return switch code {
        case ENOENT, ENOTDIR:
            Failure(
                message: InputError(.notOpened(errno: ENOENT), input: path).description, status: .noInput)
        case EACCES, EPERM:
            Failure(message: "\(path): \(cause); check the file's permissions", status: .noPermission)
        case EMFILE, ENFILE:
            Failure(
                message: InputError(.notOpened(errno: code), input: path).description, status: .inputOutput)
        default: Failure(message: "cannot open \(path): \(cause)", status: .noInput)
        }
    }
}

// MARK: Recognition

/// The first bytes of a stream, as many as needed to recognize it.
struct StreamHead {
    private let options: InspectReadingOptions
    private let lengthSize: AVCC.LengthSize
    private let record: DecoderConfigurationRecord?
    private(set) var bytes: [UInt8] = []
    /// Whether `bytes` is the whole stream.
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
