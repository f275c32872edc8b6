import Bitstream
import Decoder
import Glibc
import CamNetworking
import CamPlatform

/// Receives a stream like camplay, and prints when each picture was captured, had arrived, and was decoded.
///
/// Each line has the picture's number, and the nanoseconds from its capture to the last byte of its access
/// unit at the socket and to the decoded picture.
final class StreamReceiver {
    private let socket: Socket
    private let assembler = AccessUnitAssembler(codec: .h264)
    private let decoder: DecompressionSession
    /// How much of the stream had arrived, and when.
    private var chunks: [(end: Int, time: Instant)] = []
    /// Where the access units taken from it end, and when the last byte of each had arrived.
    private var end = 0
    private var arrivals: [Instant] = []

    /// The same as camplay's.
    private static let pauseDuration = Duration.milliseconds(2)

    private static let patience = Duration.seconds(20)

    /// Connects, as soon as someone listens.
    init(address: SocketAddress) throws {
        var configuration = DecoderConfiguration(codec: .h264)
        configuration.acceleration = .none
        decoder = DecompressionSession(configuration)
        let deadline = Instant.now + Self.patience
        var connected: Socket?
        while connected == nil {
            do throws(NetworkError) {
                connected = try Socket.connect(to: address, timeout: Self.patience)
            } catch {
                guard Instant.now < deadline else { throw error }
                usleep(10_000)
            }
        }
        guard let socket = connected.take() else { throw LatencyBenchmark.Failure.notTaken }
        self.socket = socket
    }

    /// Receives until the sender ends.
    func run() throws {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { room.deallocate() }
        var received = 0
        var mayPause = false
        while true {
            let pause = mayPause ? Instant.now + Self.pauseDuration : nil
            mayPause = socket.waitUntilReadable(until: pause)
            guard mayPause else {
                try assembler.anticipate(anticipate)
                continue
            }
            switch socket.receive(into: room) {
            case .received(let count):
                let now = Instant.now
                received += count
                chunks.append((received, now))
                try assembler.add(
                    UnsafeRawBufferPointer(rebasing: room[..<count]).bytes, arrival: now, decode)
            case .nothing: continue
            case .ended, .broken: return
            }
        }
    }

    private func anticipate(_ unit: borrowing ReceivedAccessUnit) throws {
        guard let picture = try decoder.anticipate(unit) else { return }
        let now = Instant.now
        noteArrival(of: unit)
        report(picture, at: now)
    }

    private func noteArrival(of unit: borrowing ReceivedAccessUnit) {
        guard arrivals.count == unit.number else { return }
        end += unit.withUnsafeBytes { $0.count }
        arrivals.append(chunks.first { $0.end >= end }?.time ?? .start)
        chunks.removeAll { $0.end < end }
    }

    private func decode(_ unit: borrowing ReceivedAccessUnit) throws {
        noteArrival(of: unit)
        try decoder.decode(unit)
        while let picture = try decoder.nextPicture() { report(picture, at: .now) }
    }

    private func report(_ picture: borrowing DecodedPicture, at now: Instant) {
        let stamp = PictureStamp(picture)
        let age = stamp.age(at: now.nanoseconds)
        print(stamp.number, age - (now - arrivals[picture.number]).inNanoseconds, age)
    }
}
