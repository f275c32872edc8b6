import Encoder
import Glibc
import Images
import Network
import Pictures
import Threading
import Time

/// One snapshot of a running recording, on a thread of its own: waits for a picture, makes it a file, and sends that.
public final class SnapshotTask: Sendable {
    private let stills: StillRequest
    private let format: Snapshot.Format
    private let camera: String
    /// Whether capture times are those of this machine's clock.
    private let isLive: Bool
    private let isUTC: Bool
    private let ended: @Sendable () -> Void

    /// How long to wait for an intact picture, and for a client that does not read.
    static let patience = Duration.seconds(5)
    /// Damaged pictures to look at.
    private static let mostTries = 10

    /// - Parameters:
    ///   - camera: its name, for the metadata.
    ///   - isLive: whether capture times are those of this machine's clock.
    ///   - isUTC: whether times in the file are UTC instead of local time.
    ///   - ended: called at the end, whether it was run or not.
    init(
        _ stills: StillRequest, _ format: Snapshot.Format, camera: String, isLive: Bool = true,
        isUTC: Bool = false, ended: @escaping @Sendable () -> Void
    ) {
        (self.stills, self.format, self.camera, self.ended) = (stills, format, camera, ended)
        (self.isLive, self.isUTC) = (isLive, isUTC)
    }

    deinit { ended() }

    /// Takes the picture and sends it, after a line with the reply.
    /// - Parameters:
    ///   - program: for the picture's metadata.
    ///   - text: the reply's line, without its newline.
    public func run(
        sendingTo socket: borrowing Socket, program: String, text: (ControlReply) -> String
    ) {
        do throws(Refusal) {
            let snapshot = try take(program)
            let line = text(ControlReply(bytes: snapshot.bytes.count)) + "\n"
            guard Self.send(Array(line.utf8), to: socket) else { return }
            _ = Self.send(snapshot.bytes, to: socket)
        } catch {
            _ = Self.send(Array((text(ControlReply(error: error.reason)) + "\n").utf8), to: socket)
        }
    }

    /// Why there is no picture.
    struct Refusal: Error {
        let reason: String
    }

    func take(_ program: String) throws(Refusal) -> Snapshot {
        let deadline = Instant.now + Self.patience
        var damage = ConversionError?.none
        for _ in 0..<Self.mostTries {
            guard let still = stills.take(until: deadline) else { break }
            do throws(ConversionError) {
                let form = Snapshot.Form(format, isUTC: isUTC, program: program)
                let maker = try SnapshotMaker(still.picture.format, form, camera: camera)
                _ = try maker.take(still.picture)
                return try file(of: still, maker)
            } catch { damage = error }
        }
        throw Refusal(
            reason: damage.map { "\($0)" }
                ?? "no picture came; the recording has ended, or its camera is away")
    }

    private func file(of still: borrowing StillRequest.Still, _ maker: SnapshotMaker) throws(ConversionError)
        -> Snapshot
    {
        let clock = SystemTime()
        do throws(ImageError) {
            return try maker.make(
                of: still.picture,
                time: isLive ? clock.wallTime(at: still.picture.timestamp) : clock.wallTime,
                exposure: still.exposure)
        } catch { throw .corrupt(error.description) }
    }

    /// Sends all of the bytes.
    /// - Returns: false if the client is gone, or does not read.
    private static func send(_ bytes: [UInt8], to socket: borrowing Socket) -> Bool {
        var rest = bytes[...]
        // A megabyte takes a second at most.
        let deadline = Instant.now + patience + .seconds(bytes.count >> 20)
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ socket.send($0) }) {
            case .sent(let count): rest = rest.dropFirst(count)
            case .full:
                guard Instant.now < deadline else { return false }
                let wake = Wake.wait(for: socket.descriptor, POLLOUT, unless: nil, until: deadline)
                guard wake == .ready else { return false }
            case .exhausted, .broken: return false
            }
        }
        return true
    }
}
