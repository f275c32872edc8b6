import ArgumentParser
import Bitstream
import CamDiagnostics
import FoundationEssentials
import Glibc
import CamPictures
import CamPlatform
import CamCommandLine

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
