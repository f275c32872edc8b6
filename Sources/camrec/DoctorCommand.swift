import ArgumentParser
import Bitstream
import CamDiagnostics
import CamCommandLine

/// `camrec doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Finds what a recording needs but lacks, and how to fix it.",
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
        if diagnosis.leavesThread { status.endProcess() }
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
        for (node, codec) in encoders { try Printout.write(lines: Trial.trial(node, codec).text) }
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
