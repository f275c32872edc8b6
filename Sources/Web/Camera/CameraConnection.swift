import Bitstream
import Glibc
import Network
import Threading
import Time

/// Reads a stream from one connection, and publishes its pictures. Used by one thread.
final class CameraConnection {
    private let socket: Socket
    private let publish: (FeedEvent) -> Void
    private var assembler: AccessUnitAssembler?
    /// The first bytes of a stream whose kind is still unknown.
    private var head: [UInt8] = []
    /// The sequence parameter set that the published format is from.
    private var sequenceParameterSet: [UInt8]?
    private var isLive = false
    private var pause = CameraConnection.shortestPause
    /// Whether bytes arrived since the last pause.
    private var mayPause = false

    /// A time without a byte that counts as the end of a picture; doubled whenever that was wrong, because a busy machine
    /// lets a sender wait in the middle of one.
    private static let shortestPause = Duration.milliseconds(2)
    private static let longestPause = Duration.milliseconds(32)
    /// The time after which a sender whose machine is gone is given up.
    private static let patience = Duration.seconds(10)
    private static let chunkLength = 64 << 10

    init(_ socket: consuming Socket, publish: @escaping (FeedEvent) -> Void) {
        socket.prepareForStreaming(patience: Self.patience)
        self.socket = socket
        self.publish = publish
    }

    /// Reads until the connection ends or nobody watches any more.
    /// - Returns: why the connection ended; nil if nobody watches.
    func read(for demand: ViewerDemand, interruption: Interruption) -> String? {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkLength, alignment: 16)
        defer { room.deallocate() }
        while demand.isWanted() {
            let pauseEnd = mayPause ? Instant.now + pause : nil
            let deadline = [pauseEnd, demand.deadline].compactMap(\.self).min()
            switch interruption.wait(for: socket.descriptor, or: demand.descriptor, until: deadline) {
            case .ready: if let reason = receive(into: room) { return reason }
            case .otherReady: demand.noteChange()
            case .due: if mayPause { notePause() }
            case .interrupted: return nil
            }
        }
        return nil
    }

    /// - Returns: why the connection ended; nil if it did not.
    private func receive(into room: UnsafeMutableRawBufferPointer) -> String? {
        switch socket.receive(into: room) {
        case .received(let count):
            mayPause = true
            return take(UnsafeRawBufferPointer(rebasing: room[..<count]))
        case .nothing: return nil
        case .ended:
            assembler?.finish(arrival: .now) { deliver($0) }
            return "the recorder ended the stream; start it again"
        case .broken(let code): return "connection lost: \(String(cString: strerror(code)))"
        }
    }

    private func notePause() {
        mayPause = false
        assembler?.pause(arrival: .now) { deliver($0) }
    }

    /// - Returns: why this is not a stream to show; nil if it is, or may be.
    private func take(_ bytes: UnsafeRawBufferPointer) -> String? {
        if let assembler {
            gather(bytes.bytes, assembler)
            return nil
        }
        head += bytes
        guard let kind = StreamKind(head: head.span.bytes, isWhole: false) else { return nil }
        guard case .stream(let codec, .annexB) = kind else { return Self.complaint(about: kind) }
        let assembler = AccessUnitAssembler(codec: codec)
        self.assembler = assembler
        gather(head.span.bytes, assembler)
        head = []
        return nil
    }

    private func gather(_ bytes: RawSpan, _ assembler: AccessUnitAssembler) {
        let splitsBefore = assembler.splitCount
        assembler.add(bytes, arrival: .now) { deliver($0) }
        if assembler.splitCount > splitsBefore { pause = min(pause * 2, Self.longestPause) }
    }

    private func deliver(_ unit: AccessUnit) {
        if unit.isIDR { noteFormat(of: unit) }
        publish(.picture(LivePicture(message: LiveMessage.make(unit), isKeyframe: unit.isIDR)))
        guard !isLive else { return }
        isLive = true
        publish(.status(.live))
    }

    private func noteFormat(of keyframe: AccessUnit) {
        let set = keyframe.sequenceParameterSet
        guard set != sequenceParameterSet, let facts = StreamFacts(keyframe) else { return }
        sequenceParameterSet = set
        publish(.format(facts))
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
