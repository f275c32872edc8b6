import Output
import Synchronization
import CamCommandLine

/// Reports events of an output that connects to its receiver: the first failed connection and the first loss as
/// warnings, everything else as information.
final class OutageNotice: Sendable {
    private let console: Console
    private let output: String
    private let hasToldAbsence = Atomic<Bool>(false)
    private let hasToldLoss = Atomic<Bool>(false)

    init(console: Console, output: String) { (self.console, self.output) = (console, output) }

    func report(_ event: LiveEvent) {
        let isNews =
            switch event {
            case .unreachable: !hasToldAbsence.exchange(true, ordering: .relaxed)
            case .left(let statistics) where statistics.departure?.isLoss == true:
                !hasToldLoss.exchange(true, ordering: .relaxed)
            default: false
            }
        // Most begin with the receiver's name, which is the output's.
        let text = event.description(after: output)
        let line = text.hasPrefix("\(output) ") ? text : "\(output): \(text)"
        if isNews { console.warn(line) } else { console.inform(line) }
    }
}

extension ReceiverStatistics.Departure {
    /// Whether the receiver may not have got everything.
    fileprivate var isLoss: Bool { self != .ended }
}
