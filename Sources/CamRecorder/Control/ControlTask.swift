import CamControlProtocol
import CamNetworking
import CamPlatform
import Capture
import Glibc
import Synchronization

/// A command that takes time: it runs on its own thread and sends the reply itself.
package protocol ControlTask: Sendable {
    /// Carries out the command, and sends the reply and any file after it.
    /// - Parameter text: returns a reply's line, without its newline.
    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String)
}

/// A command whose reply is followed by a file.
protocol FileTask: ControlTask {
    /// Creates the file, which may take seconds.
    func makeFile() throws(ControlRefusal) -> [UInt8]
}

extension FileTask {
    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        do throws(ControlRefusal) {
            let file = try makeFile()
            if socket.send(line: text(ControlReply(bytes: file.count))) { _ = socket.send(all: file) }
        } catch {
            _ = socket.send(line: text(ControlReply(error: error.reason)))
        }
    }
}

extension Socket {
    /// How long a client may read nothing.
    private static let patience = Duration.seconds(5)

    /// Sends a line, to which the newline is added.
    /// - Returns: false if the client is gone or does not read.
    borrowing func send(line: String) -> Bool { send(all: Array((line + "\n").utf8)) }

    /// Sends all of the bytes.
    /// - Returns: false if the client is gone or does not read.
    borrowing func send(all bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        // A megabyte takes a second at most.
        let deadline = Instant.now + Self.patience + .seconds(bytes.count >> 20)
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ send($0) }) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .full:
                guard Instant.now < deadline,
                    WaitResult.wait(for: descriptor, POLLOUT, unless: nil, until: deadline) == .ready
                else { return false }
            case .exhausted, .broken: return false
            }
        }
        return true
    }
}

/// Why a command is not carried out: one line, the next step last.
struct ControlRefusal: Error {
    let reason: String
}

/// Limits the number of simultaneous tasks of one kind.
final class TaskLimit: Sendable {
    private let most: Int
    private let count = Atomic<Int>(0)

    init(_ most: Int) { self.most = most }

    /// Permits one task, as long as it exists.
    final class Permit: Sendable {
        private let limit: TaskLimit

        fileprivate init(_ limit: TaskLimit) { self.limit = limit }

        deinit { limit.count.wrappingSubtract(1, ordering: .releasing) }
    }

    /// - Returns: nil if the limit is reached.
    func permit() -> Permit? {
        guard count.wrappingAdd(1, ordering: .acquiring).newValue <= most else {
            count.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}

// MARK: The doctor

/// The program that examines this machine with the recording's rights and prints its findings as JSON:
/// `camrec doctor`.
package struct DoctorProgram: Sendable {
    let path: String
    let arguments: [String]
    let environment: [String]

    /// Creates a command line.
    /// - Parameter environment: as `NAME=VALUE`.
    package init(path: String, arguments: [String], environment: [String]) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
    }
}

/// Runs the doctor in a child process, because it opens drivers, which may crash.
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
        // The doctor exits with an error if no recording would work, and its output says why.
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

// MARK: The camera's controls

/// Lists or sets the camera's controls, which may take seconds.
final class CameraControlTask: ControlTask {
    private let controls: LiveControls
    /// The values to set; nil to list all controls.
    private let settings: [ControlSetting]?
    private let permit: TaskLimit.Permit

    init(_ controls: LiveControls, setting settings: [ControlSetting]?, permit: TaskLimit.Permit) {
        (self.controls, self.settings, self.permit) = (controls, settings, permit)
    }

    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        _ = socket.send(line: text(reply))
    }

    private var reply: ControlReply {
        do throws(CaptureError) {
            guard let settings else {
                return ControlReply(controls: try controls.all().map { ControlReport($0) })
            }
            return ControlReply(
                controls: try controls.set(settings).map { ControlReport($0.control, value: $0.granted) })
        } catch { return ControlReply(error: error.description) }
    }
}

extension ControlReport {
    /// Creates the report of a control.
    /// - Parameter value: its current value; nil for the one in `control`.
    init(_ control: CameraControl, value: CameraControl.Value? = nil) {
        self.init(name: control.name, title: control.title, kind: Kind(control.kind))
        switch control.kind {
        case .integer(let range, let step):
            (minimum, maximum) = (Int(range.lowerBound), Int(range.upperBound))
            self.step = Int(clamping: step)
        case .text(let lengths): (minimum, maximum) = (lengths.lowerBound, lengths.upperBound)
        case .bitMask(let bits): (minimum, maximum) = (0, Int(bits))
        case .menu(let entries):
            self.entries = entries.map { Entry(value: Int($0.index), title: $0.title) }
        case .boolean, .button, .compound: break
        }
        let current = value ?? control.value
        self.value = current.flatMap { Self.number($0, of: control.kind) }
        if case .text(let text)? = current { self.text = text }
        defaultValue = control.defaultValue.flatMap { Self.number($0, of: control.kind) }
        obstacle = control.obstacle.map(Obstacle.init)
    }

    /// Bit masks are unsigned, but the driver's integers are not.
    private static func number(_ value: CameraControl.Value, of kind: CameraControl.Kind) -> Int? {
        guard case .number(let number) = value else { return nil }
        if case .bitMask = kind { return Int(UInt32(truncatingIfNeeded: number)) }
        return Int(number)
    }
}

extension ControlReport.Kind {
    fileprivate init(_ kind: CameraControl.Kind) {
        self =
            switch kind {
            case .integer: .number
            case .boolean: .switch
            case .menu: .menu
            case .bitMask: .bits
            case .button: .button
            case .text: .text
            case .compound: .other
            }
    }
}

extension ControlReport.Obstacle {
    fileprivate init(_ obstacle: CameraControl.Obstacle) {
        self =
            switch obstacle {
            case .readOnly: .readOnly
            case .inactive: .inactive
            case .grabbed: .inUse
            }
    }
}
