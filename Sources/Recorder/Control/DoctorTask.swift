import ControlProtocol
import Network
import Processes

/// A program that examines this machine and prints what it finds as JSON, with the recording's rights: `camrec doctor`. A
/// process of its own: it opens drivers, which may crash.
public struct DoctorProgram: Sendable {
    let path: String
    let arguments: [String]
    let environment: [String]

    /// - Parameter environment: as `NAME=VALUE`.
    public init(path: String, arguments: [String], environment: [String]) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
    }
}

/// Runs the doctor, and sends what it finds.
final class DoctorTask: ControlTask {
    private let program: DoctorProgram
    private let permit: TaskLimit.Permit

    /// Drivers that hang are given up sooner.
    private static let patience = Duration.seconds(30)

    init(_ program: DoctorProgram, permit: TaskLimit.Permit) {
        (self.program, self.permit) = (program, permit)
    }

    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        do throws(Refusal) {
            let findings = try findings()
            guard TaskReply.send(text(ControlReply(bytes: findings.count)), to: socket) else { return }
            TaskReply.send(findings, to: socket)
        } catch {
            TaskReply.send(text(ControlReply(error: error.reason)), to: socket)
        }
    }

    /// Why there are no findings.
    struct Refusal: Error {
        let reason: String
    }

    /// Waits for what the program prints. It fails if a recording would not work, and that is a finding.
    func findings() throws(Refusal) -> [UInt8] {
        let ending = ChildProcess.run(
            program: program.path, program.arguments, environment: program.environment,
            patience: Self.patience)
        switch ending {
        case .ended(.exited, let output) where !output.isEmpty: return output
        case .ended(let ending, _): throw Refusal(reason: "the doctor found nothing to say: \(ending)")
        case .failed(let reason): throw Refusal(reason: "the doctor did not start: \(reason)")
        case .silent: throw Refusal(reason: "the doctor found no end; is a driver hanging?")
        }
    }
}
