import CamControlProtocol
import CamNetworking
import CamPlatform
import CamStorage

/// Keeps recordings, releases them, or lists those that are kept, which takes as long as the disk does.
final class KeepingTask: ControlTask {
    private let command: KeepingCommand
    private let outputs: [RecordingOutput]
    private let permit: TaskLimit.Permit

    /// How long the outputs may take together.
    private static let patience = Duration.seconds(4)

    init(_ command: KeepingCommand, _ outputs: [RecordingOutput], permit: TaskLimit.Permit) {
        (self.command, self.permit) = (command, permit)
        self.outputs = outputs.filter(\.choice.isFile)
    }

    func run(sendingTo socket: borrowing Socket, text: (ControlReply) -> String) {
        _ = socket.send(line: text(reply))
    }

    private var reply: ControlReply {
        do throws(KeepingRefusal) { return ControlReply(kept: KeptReport(try carriedOut())) } catch {
            return ControlReply(error: error.reason)
        }
    }

    /// The outputs that have such recordings carry it out.
    private func carriedOut() throws(KeepingRefusal) -> KeptSegments {
        let deadline = Instant.now + Self.patience
        var (found, refusal) = (KeptSegments?.none, KeepingRefusal.noLimits)
        for output in outputs {
            do throws(KeepingRefusal) {
                let segments = try output.carryOut(command, until: deadline)
                found = found ?? KeptSegments()
                found?.add(segments)
            } catch {
                switch error {
                case .noLimits: break
                case .unknown: if refusal == .noLimits { refusal = error }
                case .replaced, .busy, .silent, .failed: refusal = error
                }
            }
        }
        // Nothing needs to be kept if nothing is removed.
        if command == .list, refusal == .noLimits { return found ?? KeptSegments() }
        guard let found else { throw refusal }
        return found
    }
}

extension KeepingRefusal {
    /// The reason in words, with the next step.
    fileprivate var reason: String {
        switch self {
        case .unknown(let path):
            "\(path): not a recording that this recorder may remove; name one of its files"
        case .replaced(let path):
            "\(path): not the file that was recorded, so that it is never removed; stop the recorder and run 'camrec adopt'"
        case .noLimits: "this recorder removes nothing; it needs no marks without --keep and --min-free"
        case .busy: "the output is behind or has ended; try again"
        case .silent: "the disk does not answer; try again"
        case .failed(let error): "\(error)"
        }
    }
}

extension KeptReport {
    package init(_ kept: KeptSegments) {
        self.init(
            count: kept.count, bytes: kept.bytes,
            recordings: kept.segments.map {
                Recording(path: $0.path, bytes: $0.bytes, begun: $0.begun?.iso8601)
            })
    }
}
