import NIOCore

/// Sends the page's and Prometheus' requests to a camera's recorder. Clients that ask the same question at a time share
/// one answer. Used on the event loop.
final class RecorderLink: Sendable {
    private let path: String
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
        /// The latest answers to questions that change nothing.
        var shared: [Question: (answer: EventLoopFuture<ControlRequest.Answer>, end: NIODeadline)] = [:]
        /// Requests that are under way.
        var count = 0
    }

    /// A request that changes nothing.
    enum Question: String, Hashable {
        case stats, controls, doctor
        case snapshot = "snapshot jpeg"

        /// How long an answer is reused.
        fileprivate var life: TimeAmount {
            switch self {
            case .stats: .milliseconds(500)
            // A client that has just set a control expects its new value, and a snapshot must be current.
            case .controls, .snapshot: .zero
            case .doctor: .seconds(10)
            }
        }

        /// A doctor tries drivers, which may hang; a camera may take long for each control.
        fileprivate var patience: TimeAmount {
            switch self {
            case .stats: ControlRequest.usualPatience
            case .snapshot: .seconds(15)
            case .controls: .seconds(30)
            case .doctor: .seconds(40)
            }
        }
    }

    /// A recorder has eight connections in all.
    private static let mostRequests = 4

    /// - Parameter path: the recorder's control socket.
    init(_ path: String, on eventLoop: any EventLoop) {
        self.path = path
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Asks a question, or waits for the answer to the same one.
    func ask(_ question: Question, at now: NIODeadline = .now()) -> EventLoopFuture<ControlRequest.Answer> {
        if let known = state.value.shared[question], now < known.end { return known.answer }
        let answer = send(question.rawValue, patience: question.patience)
        // While it is on its way, it is shared in any case.
        state.value.shared[question] = (answer, .distantFuture)
        answer.assumeIsolated().whenComplete { [state] result in
            let isGood = (try? result.get()) != nil
            state.value.shared[question] = isGood ? (answer, .now() + question.life) : nil
        }
        return answer
    }

    /// Sends a command.
    func send(
        _ line: String, patience: TimeAmount = ControlRequest.usualPatience
    ) -> EventLoopFuture<ControlRequest.Answer> {
        guard state.value.count < Self.mostRequests else {
            return state.eventLoop.makeFailedFuture(
                ControlRequest.Failure(reason: "the recorder has not answered yet; try again"))
        }
        state.value.count += 1
        let answer = ControlRequest.send(line, to: path, patience: patience, on: state.eventLoop)
        answer.assumeIsolated().whenComplete { [state] _ in state.value.count -= 1 }
        return answer
    }
}
