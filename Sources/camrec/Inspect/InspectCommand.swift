import ArgumentParser
import Bitstream
import Output
import Terminal

/// `camrec inspect FILE|-`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Says what is in a recording of H.264 or H.265, and whether it is sound.",
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

            The codec and whether units stand behind start codes (Annex B) or behind lengths of 4 bytes (AVCC) are \
            found out from the first bytes. A file made by --avcc has nothing but the stream's NAL units, parameter \
            sets included, each behind its length, big-endian; --avcc-record writes what a container keeps apart, \
            the avcC or hvcC box's content, and --record reads it.

            Of a .mkv, .mp4 or .ts file the video is inspected as Annex B, where offsets count; a container must be a \
            file, not a pipe.

            Standard input is read as it comes. Ctrl-C ends reading, and what was understood so far is said.

            Exit codes: 0 done; 1 --check found an offence; 64 usage; 65 the stream is not one, or breaks off; \
            66 no such file; 73 cannot create a file; 74 read or write failed; 77 no permission to read.
            """)

    @Argument(
        help: ArgumentHelp("A recording, or - for a raw stream on standard input.", valueName: "FILE|-"),
        transform: PlainValue.text("it is a file's name, or -"))
    var input: String

    @OptionGroup(title: "What is said") var report: InspectReportOptions
    @OptionGroup(title: "What is written") var conversion: ConversionOptions
    @OptionGroup(title: "How the stream is read") var reading: InspectReadingOptions

    func validate() throws {
        let files = conversion.files
        if report.check, report.nal || report.headers || report.json || !files.isEmpty {
            throw ValidationError("--check says one thing only; leave out the other options")
        }
        if files.filter({ $0 == FileSink.standardOutput }).count > 1 {
            throw ValidationError("only one file can be standard output; give the others names")
        }
        if files.contains(FileSink.standardOutput), report.nal || report.headers || report.json {
            throw ValidationError("standard output is taken by '-'; give a file's name")
        }
        if conversion.avcc != nil, conversion.annexb != nil {
            throw ValidationError("--avcc and --annexb exclude each other; leave one out")
        }
    }

    func run() throws {
        let console = Console(isQuiet: false, isVerbose: false)
        guard let signals = SignalWatch(program: "camrec") else {
            console.fail("out of threads or descriptors; raise 'ulimit -n' and 'ulimit -u'")
            throw ExitStatus.inputOutput
        }
        // The first signal ends reading, the second the process.
        signals.workBegins()
        let status = InspectSession(command: self, console: console, signals: signals).run()
        if status != .done { throw status }
    }
}

/// What is said of the stream.
struct InspectReportOptions: ParsableArguments {
    @Flag(help: "One line a NAL unit: offset, start code, size, type, slice type, frame number.")
    var nal = false

    @Flag(help: "Every syntax element of each distinct parameter set, and what it means.")
    var headers = false

    @Flag(help: "As one JSON object; with --nal and --headers those, and the elements of every unit.")
    var json = false

    @Flag(help: "Verify the shape that camrec guarantees; exit 1 and name the first offence.")
    var check = false
}

/// What is made of the stream.
struct ConversionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a page with charts, which needs no network.", valueName: "FILE"),
        transform: Self.fileName)
    var html: String?

    @Option(
        help: ArgumentHelp("Write the NAL units behind lengths.", valueName: "FILE"), transform: Self.fileName
    )
    var avcc: String?

    @Option(
        help: ArgumentHelp("Write the decoder configuration record (avcC or hvcC).", valueName: "FILE"),
        transform: Self.fileName)
    var avccRecord: String?

    @Option(
        help: ArgumentHelp("Write the NAL units behind start codes of 4 bytes.", valueName: "FILE"),
        transform: Self.fileName)
    var annexb: String?

    @Flag(help: "Replace existing files.")
    var overwrite = false

    /// The files' names.
    var files: [String] { [html, avcc, avccRecord, annexb].compactMap { $0 } }

    private static let fileName = PlainValue.text("it is a file's name, or -")
}

/// How the stream is to be understood.
struct InspectReadingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("h264 or hevc. Default: found out.", valueName: "CODEC"))
    var codec: Codec?

    @Option(help: ArgumentHelp("annexb or avcc. Default: found out.", valueName: "FORM"))
    var from: StreamForm?

    @Option(
        help: ArgumentHelp(
            "Bytes of each length in AVCC, read or written: 1, 2 or 4. Default: 4.", valueName: "N"),
        transform: Self.readLengthSize)
    var lengthSize = 4

    @Option(
        help: ArgumentHelp("The avcC or hvcC that was written apart from an AVCC stream.", valueName: "FILE"),
        transform: PlainValue.text("it is a file's name"))
    var record: String?

    func validate() throws {
        if record != nil, codec != nil || from != nil {
            throw ValidationError("--record says the codec and the form; leave out --codec and --from")
        }
    }

    private static func readLengthSize(_ text: String) throws -> Int {
        guard let size = Int(text), AVCC.LengthSize(rawValue: size) != nil else {
            throw ValidationError("it is 1, 2 or 4")
        }
        return size
    }
}

/// What the NAL units of a stream are told apart by.
enum StreamForm: String, ExpressibleByArgument, CaseIterable {
    case annexb, avcc
}
