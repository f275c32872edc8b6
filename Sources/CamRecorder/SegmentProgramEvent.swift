import CamPlatform

/// What went wrong with the programs for finished files; none of it affects the recording. `description` is one line.
public enum SegmentProgramEvent: Sendable, Equatable, CustomStringConvertible {
    /// Why a program did not do its work for a file.
    public enum Problem: Sendable, Equatable {
        case notStarted(SpawnedProcess.Failure)
        case ended(SpawnedProcess.Ending)
        /// The file was removed or moved before its turn.
        case noFile
    }

    /// A program failed, after others that were not reported.
    case failed(program: String, file: String, Problem, suppressed: Int)
    /// The number of files for which no program was started, since the last report.
    case leftOut(program: String, count: Int)
    /// A program still runs at the end.
    case stillRunning(program: String, file: String)

    public var description: String {
        switch self {
        case .failed(let program, let file, let problem, let suppressed):
            "\(program): \(problem.cause) for \(file); \(problem.nextStep(program, file))"
                + (suppressed == 0 ? "" : " (\(suppressed + 1) times since last reported)")
        case .leftOut(let program, let count):
            "\(program): not started for \(count) \(count == 1 ? "file" : "files"), because earlier ones take too long; "
                + "the files are there"
        case .stillRunning(let program, let file):
            "\(program): still running for \(file); camrec no longer waits for it"
        }
    }
}

extension SegmentProgramEvent.Problem {
    fileprivate var cause: String {
        switch self {
        case .notStarted(let failure): "not started (\(failure))"
        case .ended(let ending): "\(ending)"
        case .noFile: "not started"
        }
    }

    fileprivate func nextStep(_ program: String, _ file: String) -> String {
        switch self {
        case .notStarted: "check that it is there, executable, and begins with #! if it is a script"
        case .ended: "to see why, run it with that file"
        case .noFile: "the file was removed before its turn"
        }
    }
}
