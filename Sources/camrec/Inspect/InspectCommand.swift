import ArgumentParser
import Bitstream
import CamCommandLine
import CamInspection
import Glibc
import Containers

/// `camrec inspect FILE|-`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describes an H.264 or H.265 recording, and reports its errors.",
        usage: """
            camrec inspect [--nal] [--headers] [--json] [--html <FILE>] [<options>] <FILE|->
            camrec inspect --check <FILE|->
            camrec inspect --avcc <FILE> | --annexb <FILE> [<options>] <FILE|->
            """,
        discussion: """
            Examples:
              camrec inspect out.h264
              camrec inspect --html out.html out.h264
              camrec inspect --check out.h264
              camrec --device test --frames 100 - | camrec inspect --nal -
              camrec inspect --avcc out.avcc --avcc-record out.avcC out.h264
              camrec inspect --annexb again.h264 out.avcc
              camrec inspect out.mkv

            The codec and the framing are detected from the first bytes: start codes (Annex B), or 4-byte length \
            prefixes (AVCC). A file made by --avcc holds only the stream's NAL units, parameter sets included, each \
            after its big-endian length; --avcc-record writes what a container stores separately, the content of the \
            avcC or hvcC box, and --record reads it.

            The video of a .mkv, .mp4 or .ts file is inspected as Annex B, which offsets refer to. A container must be \
            a file, not a pipe.

            Standard input is read as it arrives. Ctrl-C ends reading and prints the report so far.

            Exit codes: 0 done; 1 --check found a violation; 64 usage; 65 not a stream, damaged or cut off; \
            66 no such file; 73 cannot create a file; 74 read or write failed; 77 no permission to read.
            """)

    @Argument(
        help: ArgumentHelp("A recording, or - for a raw stream on standard input.", valueName: "FILE|-"),
        completion: .file(), transform: PlainValue.text("expected a file's name, or -"))
    var input: String

    @OptionGroup(title: "Report") var report: InspectReportOptions
    @OptionGroup(title: "Output") var conversion: ConversionOptions
    @OptionGroup(title: "Input") var reading: InspectReadingOptions

    func validate() throws {
        let files = conversion.files
        if report.check, report.nal || report.headers || report.json || !files.isEmpty {
            throw ValidationError("--check prints only its verdict; leave out the other options")
        }
        if files.filter({ $0 == FileSink.standardOutput }).count > 1 {
            throw ValidationError("only one output can be standard output; name files for the others")
        }
        if files.contains(FileSink.standardOutput), report.nal || report.headers || report.json {
            throw ValidationError("standard output is already used by '-'; name a file")
        }
        if conversion.avcc != nil, conversion.annexb != nil {
            throw ValidationError("--avcc and --annexb exclude each other; use only one")
        }
        if let container = conversion.annexb.flatMap({ ContainerFormat(path: $0) }) {
            throw ValidationError(
                "--annexb writes the raw stream; name it .h264 or .h265, and 'camrec remux' makes .\(container.rawValue) of it"
            )
        }
    }

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        guard let signals = SignalWatch(program: "camrec") else {
            console.fail("out of threads or descriptors; raise 'ulimit -n' and 'ulimit -u'")
            throw ExitStatus.inputOutput
        }
        // The first signal ends reading, the second ends the process.
        signals.workBegins()
        let status = InspectSession(command: self, console: console, signals: signals).run()
        if status != .done { throw status }
    }
}

// MARK: Options

/// The report about the stream.
struct InspectReportOptions: ParsableArguments {
    @Flag(help: "Print one line per NAL unit: offset, start code, size, type, slice type, frame number.")
    var nal = false

    @Flag(help: "Print every syntax element of each distinct parameter set, with its meaning.")
    var headers = false

    @Flag(
        help:
            "Print one JSON object; with --nal and --headers, it includes those and the elements of every unit."
    )
    var json = false

    @Flag(help: "Verify the stream shape that camrec guarantees; exit 1 and name the first violation.")
    var check = false
}

/// The files to make from the stream.
struct ConversionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a page with charts; it needs no network.", valueName: "FILE"),
        completion: .file(), transform: Self.fileName)
    var html: String?

    @Option(
        help: ArgumentHelp("Write the NAL units with length prefixes (AVCC).", valueName: "FILE"),
        completion: .file(), transform: Self.fileName
    )
    var avcc: String?

    @Option(
        help: ArgumentHelp("Write the decoder configuration record (avcC or hvcC).", valueName: "FILE"),
        completion: .file(), transform: Self.fileName)
    var avccRecord: String?

    @Option(
        help: ArgumentHelp("Write the NAL units with 4-byte start codes (Annex B).", valueName: "FILE"),
        completion: .file(), transform: Self.fileName)
    var annexb: String?

    @Flag(help: "Replace existing files.")
    var overwrite = false

    /// The names of the files.
    var files: [String] { [html, avcc, avccRecord, annexb].compactMap { $0 } }

    private static let fileName = PlainValue.text("expected a file's name, or -")
}

/// How to interpret the stream.
struct InspectReadingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("h264 or hevc. Default: detected.", valueName: "CODEC"))
    var codec: Codec?

    @Option(help: ArgumentHelp("annexb or avcc. Default: detected.", valueName: "FORM"))
    var from: StreamForm?

    @Option(
        help: ArgumentHelp(
            "Bytes per AVCC length prefix, read or written: 1, 2 or 4. Default: 4.", valueName: "N"),
        transform: Self.readLengthSize)
    var lengthSize = 4

    @Option(
        help: ArgumentHelp("File with the avcC or hvcC of an AVCC stream.", valueName: "FILE"),
        completion: .file(), transform: PlainValue.text("expected a file's name"))
    var record: String?

    func validate() throws {
        if record != nil, codec != nil || from != nil {
            throw ValidationError("--record defines the codec and the framing; leave out --codec and --from")
        }
    }

    private static func readLengthSize(_ text: String) throws -> Int {
        guard let size = Int(text), AVCC.LengthSize(rawValue: size) != nil else {
            throw ValidationError("expected 1, 2 or 4")
        }
        return size
    }
}

/// How the stream separates its NAL units.
enum StreamForm: String, ExpressibleByArgument, CaseIterable {
    case annexb, avcc
}

// MARK: Session

/// One run of `camrec inspect`.
struct InspectSession {
    let command: InspectCommand
    let console: Console
    let signals: SignalWatch

    /// The largest accepted NAL unit, in bytes, which bounds memory use.
    private static let unitByteLimit = 64 << 20
    private static let chunkByteCount = 256 << 10

    /// Why a run ends early.
    enum Failure: Error {
        case input(StreamInput.Failure)
        case output(OutputError)
        /// The input is not a stream, or ends in the middle of it.
        case badInput(String)
        /// A file's name implies another codec than the stream's.
        case misnamed(String)
        /// The stream cannot be written in the requested form; the files are removed.
        case unconvertible(String)
        /// `--check` found a problem.
        case violation(String)
        /// Standard output's reader has closed it.
        case unread
    }

    func run() -> ExitStatus {
        do throws(Failure) {
            try inspect()
            return .done
        } catch {
            switch error {
            case .unread: return .done
            case .input(let failure): return fail(failure.message, failure.status)
            case .output(let failure):
                return fail(failure.description, failure.isCreation ? .cannotCreate : .inputOutput)
            case .misnamed(let message): return fail(message, .usage)
            case .unconvertible(let message): return fail("\(command.input): \(message)", .badInput)
            case .badInput(let message): return fail(message, .badInput)
            case .violation(let message): return fail("\(command.input): \(message)", .violation)
            }
        }
    }

    private func fail(_ message: String, _ status: ExitStatus) -> ExitStatus {
        console.fail(message)
        return status
    }

    private func inspect() throws(Failure) {
        let input = try open()
        let files = try ConversionFiles(
            command.conversion, lengthSize: lengthSize, input: input.identity)
        let record = try command.reading.record.map { (path) throws(Failure) in try readRecord(path) }
        var head = StreamHead(command.reading, lengthSize: record?.lengthSize ?? lengthSize, record: record)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { buffer.deallocate() }
        switch try head.recognize(input, buffer) {
        case .container: try inspectContainer(input, files)
        case .raw(let codec, let framing):
            try checkNames(for: codec)
            var run = InspectionRun(
                command.report, name: input.name, codec: codec, framing: framing, files: files,
                unitByteLimit: Self.unitByteLimit)
            try run.take(head.bytes.span.bytes)
            while !head.isWhole {
                let count = try read(input, buffer, for: &run)
                if count == 0 { break }
                try run.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
            }
            try run.finish()
        }
    }

    private func inspectContainer(_ input: StreamInput, _ files: ConversionFiles) throws(Failure) {
        guard input.isFile else {
            throw .badInput("\(input.name): a container is read from a file, not a pipe; save it first")
        }
        let reader: ContainerReader
        do throws(InputError) {
            reader = try ContainerReader(
                descriptor: input.descriptor, name: input.name, takesSound: true,
                cancellation: signals.cancellation)
        } catch { throw Failure(error) }
        try checkNames(for: reader.codec)
        var run = InspectionRun(
            command.report, name: input.name, codec: reader.codec, framing: .annexB, files: files,
            unitByteLimit: Self.unitByteLimit)
        var container = Inspection.Container(reader.container, others: reader.leftOut)
        let metadata = reader.metadata
        (container.start, container.camera) = (metadata.start, metadata.camera)
        container.program = metadata.program
        container.sound = reader.sound.map(InspectedSound.init)
        run.container = container
        while let packet = try next(of: reader, for: &run) {
            if let sound = packet.sound {
                run.take(sound, reader.sound)
            } else {
                let picture = reader.bytes
                try run.take(packet, picture.span.bytes)
            }
        }
        try run.finish()
    }

    /// Refuses to write a stream into a file that is named for another codec.
    private func checkNames(for codec: Codec) throws(Failure) {
        guard let path = command.conversion.annexb, let named = Codec(fileName: path), named != codec else {
            return
        }
        throw .misnamed(RemuxError.otherCodec(output: path, is: codec).description)
    }

    /// - Returns: nil at the end, or if the user interrupts.
    private func next(
        of reader: ContainerReader, for run: inout InspectionRun
    ) throws(Failure) -> ContainerReader.Packet? {
        do throws(InputError) {
            return try reader.next()
        } catch {
            guard error.kind != .interrupted else { return nil }
            // Report what was understood before the failure.
            try run.breakOff(error.problem)
            throw Failure(error)
        }
    }

    private func readRecord(_ path: String) throws(Failure) -> DecoderConfigurationRecord {
        do throws(InputError) { return try DecoderConfigurationRecord(path: path) } catch {
            throw Failure(error)
        }
    }

    private var lengthSize: AVCC.LengthSize { AVCC.LengthSize(rawValue: command.reading.lengthSize) ?? .four }

    private func open() throws(Failure) -> StreamInput {
        do throws(StreamInput.Failure) {
            return try StreamInput(path: command.input, cancellation: signals.cancellation)
        } catch {
            throw .input(error)
        }
    }

    private func read(
        _ input: StreamInput, _ buffer: UnsafeMutableRawBufferPointer, for run: inout InspectionRun
    ) throws(Failure) -> Int {
        do throws(StreamInput.Failure) {
            return try input.read(into: buffer)
        } catch {
            // Report what was understood before the failure.
            try run.breakOff(error.message)
            throw .input(error)
        }
    }
}

extension InspectSession.Failure {
    fileprivate init(_ error: InputError) {
        self = .input(StreamInput.Failure(message: error.description, status: ExitStatus(error)))
    }
}
