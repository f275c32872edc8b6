import Bitstream
import CamNetworking
import CamPlatform
import Glibc
import Containers

/// Connects to the recorder of a camera, and reconnects, as long as the camera has viewers. Runs on a
/// separate thread.
struct CameraReader: Sendable {
    let address: CameraAddress
    let demand: ViewerDemand
    let cancellation: CancellationFlag
    /// Called on the reader's thread.
    let publish: @Sendable (FeedEvent) -> Void

    /// How long connecting may take.
    private static let connectTimeout = Duration.seconds(5)
    /// The longest pause between two attempts to connect.
    private static let longestPause = Duration.seconds(2)

    /// Runs until the demand ends for good or the cancellation is raised.
    func run() {
        while demand.awaitViewer(), !cancellation.isRaised {
            serve()
            // The next viewers must not see the status of the previous ones.
            publish(.status(.connecting))
        }
    }

    /// Keeps a connection as long as there are viewers.
    private func serve() {
        var backOff = BackOff(longest: Self.longestPause)
        while demand.isWanted(), !cancellation.isRaised {
            let start = Instant.now
            do throws(NetworkError) {
                let socket = try address.connect(
                    timeout: Self.connectTimeout, cancellation: cancellation)
                publish(.status(.waiting))
                let connection = CameraConnection(
                    socket, name: "\(address)", demand: demand, publish: publish)
                guard let end = connection.read(unless: cancellation) else { return }
                publish(.status(end))
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
            switch cancellation.wait(for: demand.descriptor, until: deadline) {
            case .ready: demand.noteChange()
            case .due, .interrupted, .otherReady: return
            }
        }
    }
}

// MARK: A connection

/// Reads a stream from one connection and publishes its pictures. Used by one thread.
final class CameraConnection {
    private let socket: Socket
    private let demand: ViewerDemand
    private let publish: (FeedEvent) -> Void
    private let containers: ContainerSupply
    private let name: String
    private var pictures: LivePictures?
    /// The first bytes of a stream whose kind is still unknown.
    private var head: [UInt8] = []
    /// The sequence parameter set of the published format.
    private var sequenceParameterSet: [UInt8]?
    private var facts: StreamFacts?
    private var formats = FormatAllowance()
    private var interval = PictureInterval()
    /// Whether pictures are left out up to the next keyframe of an admitted format.
    private var isSkipping = false
    private var isLive = false
    /// Whether a picture arrived that is shown before an earlier one; containers would show them in the wrong
    /// order.
    private var isReordered = false
    private var pause = CameraConnection.shortestPause
    /// Whether bytes arrived since the last pause.
    private var mayPause = false

    /// The time without a byte that counts as the end of a picture. Doubled after each mistake, because a
    /// busy machine makes a sender wait in the middle of a picture.
    private static let shortestPause = Duration.milliseconds(2)
    private static let longestPause = Duration.milliseconds(32)
    /// The time after which a silent sender counts as gone.
    private static let patience = Duration.seconds(10)
    private static let chunkLength = 64 << 10

    /// - Parameter name: the name of the stream in messages.
    init(
        _ socket: consuming Socket, name: String, demand: ViewerDemand, publish: @escaping (FeedEvent) -> Void
    ) {
        socket.prepareForStreaming(patience: Self.patience)
        self.socket = socket
        (self.name, self.demand, self.publish) = (name, demand, publish)
        containers = ContainerSupply(name: name)
    }

    /// Reads until the connection or the demand ends.
    /// - Returns: the status after the connection ended; nil if the demand ended.
    func read(unless cancellation: CancellationFlag) -> CameraStatus? {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkLength, alignment: 16)
        defer { room.deallocate() }
        while demand.isWanted() {
            let pauseEnd = mayPause ? Instant.now + pause : nil
            let deadline = [pauseEnd, demand.deadline].compactMap(\.self).min()
            switch cancellation.wait(for: socket.descriptor, or: demand.descriptor, until: deadline) {
            case .ready: if let end = receive(into: room) { return end }
            case .otherReady: demand.noteChange()
            case .due: if mayPause { notePause() }
            case .interrupted: return nil
            }
        }
        return nil
    }

    /// - Returns: the status after the connection ended; nil if it did not.
    private func receive(into room: UnsafeMutableRawBufferPointer) -> CameraStatus? {
        switch socket.receive(into: room) {
        case .received(let count):
            mayPause = true
            return take(UnsafeRawBufferPointer(rebasing: room[..<count]))
        case .nothing: return nil
        case .ended:
            pictures?.finish(arrival: .now) { deliver($0) }
            return .unavailable("\(name): the recorder ended the stream; start it again")
        case .broken(let code):
            return .unavailable("\(name): connection lost: \(String(cString: strerror(code)))")
        }
    }

    private func notePause() {
        mayPause = false
        pictures?.pause { deliver($0) }
    }

    /// - Returns: why camweb cannot show the stream; nil if it can, or may be able to.
    private func take(_ bytes: UnsafeRawBufferPointer) -> CameraStatus? {
        if let pictures {
            add(bytes.bytes, to: pictures)
            return nil
        }
        head += bytes
        guard let kind = StreamKind(head: head.span.bytes, isWhole: false) else { return nil }
        guard case .stream(let codec, .annexB) = kind else {
            return .unplayable("\(name): \(Self.complaint(about: kind))")
        }
        let pictures = LivePictures(codec: codec)
        self.pictures = pictures
        add(head.span.bytes, to: pictures)
        head = []
        return nil
    }

    private func add(_ bytes: RawSpan, to pictures: LivePictures) {
        let splitsBefore = pictures.splitCount
        pictures.add(bytes, arrival: .now) { deliver($0) }
        isReordered = pictures.isReordered
        if pictures.splitCount > splitsBefore { pause = min(pause * 2, Self.longestPause) }
    }

    private func deliver(_ unit: AccessUnit) {
        if unit.isIDR { isSkipping = !admitsFormat(of: unit) }
        guard !isSkipping else { return }
        interval.note(unit.timestamp)
        if demand.isWanted(.messages) {
            publish(.picture(LiveMessage.picture(unit, lasting: interval.usual)))
        }
        for form in LiveForm.allCases where form != .messages {
            if demand.isWanted(form) { deliver(unit, as: form) } else { containers.close(form) }
        }
        guard !isLive else { return }
        isLive = true
        publish(.status(.live))
    }

    private func deliver(_ unit: AccessUnit, as form: LiveForm) {
        guard let facts else { return }
        guard !isReordered else {
            return publish(
                .impossible(form, reason: "its pictures are reordered (B frames); record without --bframes"))
        }
        do throws(OutputError) {
            guard let picture = try containers.picture(unit, lasting: interval.usual, as: form, facts) else {
                return
            }
            publish(.picture(picture))
        } catch {
            containers.close(form)
            publish(.impossible(form, reason: error.description))
        }
    }

    /// Publishes a new format.
    /// - Returns: false if the stream changes its format too often.
    private func admitsFormat(of keyframe: AccessUnit) -> Bool {
        let set = keyframe.sequenceParameterSet
        guard set != sequenceParameterSet, let facts = StreamFacts(keyframe) else { return true }
        guard formats.admitsChange(at: .now) else { return false }
        (sequenceParameterSet, self.facts) = (set, facts)
        containers.restart()
        publish(.facts(facts))
        return true
    }

    private static func complaint(about kind: StreamKind) -> String {
        let found =
            switch kind {
            case .container(let container): "\(container)"
            case .other(let name): name
            case .stream, .unknown, .empty: "something else"
            }
        return "this is \(found), not a raw H.264 or H.265 stream; give the address of camrec's --listen"
    }
}

// MARK: Changes of the format

/// Limits how often a stream changes its format: each change makes every browser open another decoder. A recorder
/// changes it when its settings change.
struct FormatAllowance: Sendable {
    /// When the whole burst is available again.
    private var full = Instant.start

    private static let burst = 8
    private static let interval = Duration.seconds(1)

    /// Returns whether the format may change now, and counts the change.
    mutating func admitsChange(at now: Instant) -> Bool {
        let full = max(self.full, now)
        guard full - now <= Self.interval * (Self.burst - 1) else { return false }
        self.full = full + Self.interval
        return true
    }
}
