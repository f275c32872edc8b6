import ArgumentParser
import Bitstream
import CamCommandLine
import CamDiagnostics
import CamPictures
import CamPlatform
import FoundationEssentials
import Glibc

/// `camrec devices`
struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists cameras and their formats, and encoders and their capabilities.",
        usage: "camrec devices [--controls] [--json]")

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Flag(help: "Include each camera's controls, as --control takes them.")
    var controls = false

    func run() throws {
        let inventory = Inventory.take(withControls: controls)
        if json {
            try Printout.write(JSONText.of(inventory))
        } else {
            try Printout.write(lines: inventory.text)
        }
        if inventory.hasHungThread { ExitStatus.done.endProcess() }
    }
}

/// `camrec doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Finds problems that prevent a recording, and how to fix them.",
        usage: "camrec doctor [--json] [--encode]",
        discussion: """
            Exit codes: 0 a recording would work; else what it would end with: 66 no camera, 69 no encoder, \
            73 no room, 75 in use, 77 no permission.
            """)

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Flag(help: "Encode 5 s of pictures with each encoder and print measurements, for a bug report.")
    var encode = false

    func run() throws {
        let diagnosis = Diagnosis.make(folder: ".", checkSettings: check)
        if json {
            let trials = encode ? encoders.map(EncoderTrialCommand.trial) : nil
            try Printout.write(JSONText.of(Report(diagnosis: diagnosis, encoderTrials: trials)))
        } else {
            try Printout.write(lines: diagnosis.text)
            if encode { try printTrials() }
        }
        let status = diagnosis.obstacle.map(ExitStatus.init) ?? .done
        if diagnosis.hasHungThread { status.endProcess() }
        if status != .done { throw status }
    }

    /// The output of `--json`.
    private struct Report: Encodable {
        let camrec = Version.current
        let diagnosis: Diagnosis
        /// Null without `--encode`.
        let encoderTrials: [EncoderTrial]?
    }

    private func check(settings path: String) -> SettingsCheck {
        do throws(SettingsProblems) {
            let arguments = try RecordCommand.arguments(ofSettings: path)
            return .sound(device: RecordCommand.device(arguments))
        } catch { return .wrong(error.problems) }
    }

    private var encoders: [(node: String?, codec: Codec)] {
        EncoderTrial.nodes.flatMap { node in Codec.allCases.map { (node, $0) } }
    }

    /// Prints each trial as soon as it ends.
    private func printTrials() throws(ExitStatus) {
        typealias Trial = EncoderTrialCommand
        try Printout.write(
            lines: "\nEncoders, each with \(Trial.seconds) s of noisy \(Trial.width)x\(Trial.height) at "
                + "\(Trial.framesPerSecond) frames/s (camrec \(Version.current))")
        for (node, codec) in encoders {
            try Printout.write(lines: Trial.trial(node, codec).text(for: Trial.framesPerSecond))
        }
    }
}

extension ExitStatus {
    fileprivate init(_ obstacle: Diagnosis.Obstacle) {
        self =
            switch obstacle {
            case .noCamera: .noInput
            case .noPermission: .noPermission
            case .busy: .busy
            case .noEncoder: .unavailable
            case .noRoom: .cannotCreate
            }
    }
}

/// `camrec encoder-trial`, run by `camrec doctor --encode` for each encoder, so that a driver that hangs or crashes
/// harms no other program.
struct EncoderTrialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoder-trial",
        abstract: "Measures one encoder; used by 'camrec doctor --encode'.",
        shouldDisplay: false)

    static let width = 1280, height = 720, framesPerSecond = 30, seconds = 5
    /// How long hardware may produce no picture; software may take any time.
    private static let patience = Duration.seconds(10)

    @Option(
        help: ArgumentHelp("Render node. Default: software.", valueName: "PATH"),
        transform: PlainValue.text("expected a path, as in /dev/dri/renderD128"))
    var node: String?

    @Option(help: "Codec.")
    var codec: Codec

    /// Writes newlines as a sign of progress, then the result as JSON.
    func run() throws {
        guard let size = PictureSize(Self.width, Self.height),
            let rate = FrameRate("\(Self.framesPerSecond)")
        else { throw ExitStatus.usage }
        let trial = EncoderTrial.run(
            node: node, codec: codec, size: size, frameRate: rate, seconds: Self.seconds
        ) {
            try? Printout.write("\n")
        }
        try Printout.write(JSONText.line(of: trial))
        // A driver's exit handlers may hang.
        _exit(0)
    }

    /// Runs a trial in its own process.
    static func trial(_ node: String?, _ codec: Codec) -> EncoderTrial {
        func failure(_ problem: String) -> EncoderTrial {
            EncoderTrial(node: node, codec: codec, problem: problem)
        }
        let arguments = ["encoder-trial", "--codec", codec.rawValue] + (node.map { ["--node", $0] } ?? [])
        switch ChildProcess.run(arguments, patience: node == nil ? nil : patience) {
        case .ended(.exited(0), let output):
            return (try? JSONDecoder().decode(EncoderTrial.self, from: Data(output)))
                ?? failure("no readable result")
        case .ended(let ending, _):
            return failure("the process was killed (\(ending)); see the driver's output")
        case .failed(let reason): return failure("the process did not start (\(reason))")
        case .silent:
            return failure(
                "no picture for \(patience.components.seconds) s: the driver hangs; see the kernel's log (sudo dmesg)"
            )
        }
    }
}

/// Writes text to standard output.
enum Printout {
    /// Writes text. A nil text, which could not be encoded, is an error.
    static func write(_ text: String?) throws(ExitStatus) {
        signal(SIGPIPE, SIG_IGN)
        guard let code = text.map({ DescriptorWriter.write($0, to: STDOUT_FILENO) }) ?? EINVAL else { return }
        // A reader that needs only the first lines, such as head, is not a failure.
        if code == EPIPE { return }
        Console(isQuiet: false, isVerbose: false).fail(
            "standard output: writing failed: \(String(cString: strerror(code))); check its destination")
        throw .inputOutput
    }

    /// Writes lines. Control characters, which may come with a driver's names, are shown as codes.
    static func write(lines text: String) throws(ExitStatus) {
        try write(
            text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\n") + "\n")
    }
}
