import CamPlatform
import NIOHTTP1

/// Makes responses from recordings on a few threads, one for each, so that the disk never delays live
/// pictures.
final class RecordingWorkers: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var counts: [Kind: Int] = [:]
    private let scratchFolder: String

    /// Work that shares a limit.
    private enum Kind: Hashable {
        case list, keyframe, playing, span

        var most: Int {
            switch self {
            case .list, .keyframe, .span: 2
            case .playing: 16
            }
        }
    }

    /// - Parameter scratchFolder: where clips are made, in files without names.
    init(scratchFolder: String) { self.scratchFolder = scratchFolder }

    /// Starts making a response.
    func start(_ request: RecordingRequest, _ sink: ResponseSink) throws(Refusal) {
        let kind = Self.kind(request.target)
        guard take(kind) else { throw .busy }
        let thread = WorkerThread { [self] in
            defer { giveBack(kind) }
            perform(request, sink)
        }
        guard let thread else {
            giveBack(kind)
            throw .busy
        }
        thread.detach()
    }

    private func perform(_ request: RecordingRequest, _ sink: ResponseSink) {
        let response = RecordingResponse(request, sink)
        do throws(Refusal) {
            switch request.target {
            case .list(let time): try response.list(time)
            case .span(let time): try SpanDownload(response, scratchFolder: scratchFolder).send(time)
            case .file(let id): try response.file(id)
            case .piece(let id, let at, let length): try response.piece(id, at: at, length: length)
            case .keyframe(let id, let at): try response.keyframe(id, at: at)
            }
        } catch { response.fail(error) }
    }

    private static func kind(_ target: RecordingTarget) -> Kind {
        switch target {
        case .list: .list
        case .keyframe: .keyframe
        case .file, .piece: .playing
        case .span: .span
        }
    }

    private func take(_ kind: Kind) -> Bool {
        monitor.withLock {
            guard counts[kind, default: 0] < kind.most else { return false }
            counts[kind, default: 0] += 1
            return true
        }
    }

    private func giveBack(_ kind: Kind) { monitor.withLock { counts[kind, default: 0] -= 1 } }
}

// MARK: Requests

/// An admitted request for the recordings of a camera.
struct RecordingRequest: Sendable {
    let camera: String
    let catalog: RecordingCatalog
    let target: RecordingTarget
    /// The host and port to which the browser connected.
    let authority: String
    /// The value of `Range`; nil if there are none or several.
    let range: String?
    /// The value of `If-Range`.
    let condition: String?
}
