import CamNetworking
import CamPlatform

/// Connects to a camera's recorder while somebody watches, again and again. Runs on a thread of its own.
struct CameraReader: Sendable {
    let address: CameraAddress
    let demand: ViewerDemand
    let interruption: Interruption
    /// Called on the reader's thread.
    let publish: @Sendable (FeedEvent) -> Void

    /// How long connecting may take.
    private static let connectTimeout = Duration.seconds(5)
    /// How long viewers wait at most for a recorder that is back.
    private static let longestPause = Duration.seconds(2)

    /// Runs until everything ends.
    func run() {
        while demand.awaitViewer(), !interruption.isRaised {
            serve()
            // What was true for the last viewers need not be true for the next ones.
            publish(.status(.connecting))
        }
    }

    /// Keeps a connection as long as somebody watches.
    private func serve() {
        var backOff = BackOff(longest: Self.longestPause)
        while demand.isWanted(), !interruption.isRaised {
            let start = Instant.now
            do throws(NetworkError) {
                let socket = try address.connect(
                    timeout: Self.connectTimeout, interruption: interruption)
                publish(.status(.waiting))
                let connection = CameraConnection(
                    socket, name: "\(address)", demand: demand, publish: publish)
                guard let reason = connection.read(unless: interruption) else { return }
                publish(.status(.unavailable("\(address): \(reason)")))
            } catch {
                if case .interrupted = error.kind { return }
                publish(.status(.unavailable(error.description)))
            }
            backOff.noteSuccess(lasting: .now - start)
            wait(until: .now + backOff.next())
        }
    }

    private func wait(until deadline: Instant) {
        while demand.isWanted(), Instant.now < deadline {
            switch interruption.wait(for: demand.descriptor, until: deadline) {
            case .ready: demand.noteChange()
            case .due, .interrupted, .otherReady: return
            }
        }
    }
}
