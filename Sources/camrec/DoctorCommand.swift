import ArgumentParser
import Capture
import Diagnostics
import Terminal

/// `camrec doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Says what a recording needs and does not have, and what mends it.",
        usage: "camrec doctor [--json] [--encode]",
        discussion: """
            Exit codes: 0 a recording would work; else what it would end with: 66 no camera, 69 no encoder, \
            73 no room, 75 in use, 77 no permission.
            """)

    @Flag(help: "As JSON, for programs.")
    var json = false

    @Flag(help: "Encode 5 s of pictures with each encoder and measure it: a report to paste into a bug.")
    var encode = false

    func run() throws {
        let diagnosis = Diagnosis.make(folder: ".") { path in
            do throws(SettingsProblems) {
                _ = try RecordCommand.arguments(ofSettings: path)
                return []
            } catch { return error.problems }
        }
        let trials = encode ? try encoderTrials() : nil
        if json {
            try Printout.write(JSONText.of(Report(diagnosis: diagnosis, encoderTrials: trials)))
        } else {
            let parts = [diagnosis.text, trials.map(text)].compactMap { $0 }
            try Printout.write(lines: parts.joined(separator: "\n\n"))
        }
        if let obstacle = diagnosis.obstacle { throw ExitStatus(obstacle) }
    }

    /// What `--json` prints.
    private struct Report: Encodable {
        let camrec = Camrec.configuration.version
        let diagnosis: Diagnosis
        /// Null without `--encode`.
        let encoderTrials: [EncoderTrial]?
    }

    private static let seconds = 5

    private func encoderTrials() throws(ExitStatus) -> [EncoderTrial] {
        guard let size = PictureSize(1280, 720), let rate = FrameRate(30) else { throw .usage }
        return EncoderTrial.runAll(size: size, frameRate: rate, seconds: Self.seconds)
    }

    private func text(of trials: [EncoderTrial]) -> String {
        "Encoders, each with \(Self.seconds) s of noisy 1280x720 at 30 frames/s (camrec \(Camrec.configuration.version))\n"
            + trials.map(\.text).joined(separator: "\n")
    }
}

extension ExitStatus {
    fileprivate init(_ obstacle: Diagnosis.Obstacle) {
        self =
            switch obstacle {
            case .noCamera: .noDevice
            case .noPermission: .noPermission
            case .busy: .busy
            case .noEncoder: .unavailable
            case .noRoom: .cannotCreate
            }
    }
}
