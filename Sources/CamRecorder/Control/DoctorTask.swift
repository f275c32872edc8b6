import CamPlatform

/// The program that examines this machine with the recording's rights and prints its findings as JSON: `camrec doctor`.
public struct DoctorProgram: Sendable {
    let path: String
    let arguments: [String]
    let environment: [String]

    /// Creates a command line.
    /// - Parameter environment: as `NAME=VALUE`.
    public init(path: String, arguments: [String], environment: [String]) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
    }
}

/// Runs the doctor in a process of its own, because it opens drivers, which may crash.
final class DoctorTask: FileTask {
    private let program: DoctorProgram
    private let permit: TaskLimit.Permit

    /// The doctor itself gives up drivers that hang sooner.
    private static let patience = Duration.seconds(30)

    init(_ program: DoctorProgram, permit: TaskLimit.Permit) {
        (self.program, self.permit) = (program, permit)
    }

    func makeFile() throws(ControlRefusal) -> [UInt8] {
        let ending = ChildProcess.run(
            program: program.path, program.arguments, environment: program.environment,
            patience: Self.patience)
        switch ending {
        // It exits with an error if no recording would work, and says why.
        case .ended(.exited, let output) where !output.isEmpty: return output
        case .ended(let ending, _): throw Self.refusal("printed nothing (\(ending))")
        case .failed(let reason): throw Self.refusal("did not start (\(reason))")
        case .silent: throw Self.refusal("did not end: a driver may hang")
        }
    }

    private static func refusal(_ problem: String) -> ControlRefusal {
        ControlRefusal(reason: "the doctor \(problem); run 'camrec doctor' on that machine")
    }
}
