import Bitstream
import CamPlatform
import Glibc
import CamSound

/// Reads the video of a Matroska, MP4 or MPEG-TS file, picture by picture, as Annex B, and its sound if wanted.
///
/// A container's separate parameter sets are inserted before each keyframe that has none of its own.
///
///     let reader = try ContainerReader(path: "in.mkv")
///     while let packet = try reader.next() { … reader.bytes … packet.time … }
///
/// libavformat is loaded with the first reader. Any input is as safe as libavformat is; memory is bounded.
/// Use a reader in one thread at a time.
public final class ContainerReader {
    /// A picture without its bytes, a packet of sound, or an unreadable part of the file.
    public struct Packet: Sendable {
        /// The presentation time since the file's first picture; nil if the file has none. For an unreadable
        /// part, the time of the previous picture.
        public var time: Duration?
        /// Whether neither this picture nor a later one refers to an earlier one.
        public var isKeyframe: Bool
        /// Whether decoding can begin here, even if some pictures can't be decoded then.
        public var allowsEntry = false
        /// Whether it is a picture rather than sound or an unreadable part.
        public var isPicture = true
        /// The sound, on a clock that starts with the file's first picture; nil for anything else.
        public var sound: SoundPacket?
        /// Whether an edit list hides it.
        public var isHidden = false
        /// The damage, in words; nil if there is none.
        public var problem: String?
    }

    /// The file's name in messages.
    public let name: String
    /// The kind of file.
    public let container: StreamContainer
    /// The video's coding standard.
    public let codec: Codec
    /// The bytes of the latest packet, as Annex B.
    public private(set) var bytes: [UInt8] = []

    /// Reads the next bytes of a stream, and waits for them.
    /// - Returns: how many; 0 at the end, and negative after a failure.
    public typealias StreamBytes = (UnsafeMutableRawBufferPointer) -> Int

    /// Nil for a stream.
    private let descriptor: Descriptor?
    private let cancellation: CancellationFlag?
    private let takesSound: Bool
    private var demuxer: Demuxer
    private var framing: PacketFraming
    private var soundFraming: SoundFraming?
    /// Sound that precedes the first picture in the file, with its time in the file.
    private var early: [(bytes: [UInt8], time: Duration?)] = []
    /// Sound whose time fits neither the previous sound nor the pictures. The next packet of sound shows
    /// whether the time is wrong or another recording begins.
    private var doubtful: [(bytes: [UInt8], time: Duration?)] = []
    /// The file's time of the first picture that is shown.
    private var origin: Duration?
    /// The time of the latest picture since `origin`.
    private var latestTime: Duration?
    /// The latest packet's time according to libavformat, and the time that
    /// libavformat has added for false wraps.
    private var latestGiven: Duration?
    private var falseWraps = Duration.zero
    /// A packet that was read, and whose bytes are in `bytes`, but that was not returned yet.
    private var pending: Packet?

    /// Opens a file, which must be a regular one, because reading a container requires seeking.
    /// - Parameters:
    ///   - takesSound: whether sound is read as well, if it has one of camrec's codecs.
    ///   - cancellation: ends reading.
    public convenience init(
        path: String, takesSound: Bool = false, cancellation: CancellationFlag? = nil
    ) throws(InputError) {
        // Without O_NONBLOCK, opening a pipe that has no writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw InputError(.notOpened(errno: errno), input: path) }
        try self.init(Descriptor(descriptor, isOwned: true), name: path, takesSound, cancellation)
    }

    /// Reads an open file. The caller keeps it, and keeps it open as long as the reader exists.
    public convenience init(
        descriptor: Int32, name: String, takesSound: Bool = false, cancellation: CancellationFlag? = nil
    ) throws(InputError) {
        try self.init(Descriptor(descriptor, isOwned: false), name: name, takesSound, cancellation)
    }

    private convenience init(
        _ descriptor: Descriptor, name: String, _ takesSound: Bool, _ cancellation: CancellationFlag?
    ) throws(InputError) {
        switch try descriptor.streamKind(name) {
        case .container(let found)?:
            try self.init(
                found, ContainerInput(descriptor.number, found, cancellation: cancellation), descriptor,
                name: name, takesSound, cancellation)
        case .empty?: throw InputError(.malformed("it is empty; give a recording"), input: name)
        default: throw InputError(.malformed("this is not a .mkv, .mp4 or .ts file"), input: name)
        }
    }

    /// Reads a stream, once: the reader cannot seek or rewind.
    /// - Parameters:
    ///   - kind: the kind of container.
    ///   - bytes: reads the stream from its beginning.
    public convenience init(
        streaming kind: StreamContainer, name: String, takesSound: Bool = false,
        _ bytes: @escaping StreamBytes
    ) throws(InputError) {
        try self.init(kind, ContainerInput(bytes), nil, name: name, takesSound, nil)
    }

    private init(
        _ kind: StreamContainer, _ input: ContainerInput, _ descriptor: Descriptor?, name: String,
        _ takesSound: Bool, _ cancellation: CancellationFlag?
    ) throws(InputError) {
        (container, self.descriptor, self.name, self.cancellation) = (kind, descriptor, name, cancellation)
        self.takesSound = takesSound
        demuxer = try Demuxer(input, kind: container, name: name, takesSound: takesSound)
        codec = demuxer.codec
        framing = try Self.framing(codec, demuxer.configuration, name)
        soundFraming = demuxer.sound.map(SoundFraming.init)
    }

    /// The kinds of content that are not read, in words, such as `sound`.
    public var leftOut: [String] { demuxer.leftOut }

    /// The sound that is read; nil if there is none, or if only the first packet describes it.
    public var sound: SoundDescription? { soundFraming?.description }

    /// The word for sound in `leftOut`.
    public static let sound = "sound"

    /// Whether there is sound that is read.
    public var hasSound: Bool { soundFraming != nil }

    /// What the file says about the recording.
    public var metadata: FileMetadata { demuxer.metadata }

    /// The file's identity.
    public var identity: FileIdentity? { descriptor.flatMap { FileIdentity(descriptor: $0.number) } }

    /// Reads the next picture in decoding order, and puts its bytes in `bytes`; or reads sound. Returns nil
    /// at the end.
    public func next() throws(InputError) -> Packet? {
        if let packet = pending.take() { return packet }
        bytes.removeAll(keepingCapacity: true)
        while true {
            if let origin, !early.isEmpty {
                let (bytes, time) = early.removeFirst()
                if let packet = bytes.withUnsafeBytes({ sound($0, at: time.map { $0 - origin }) }) {
                    return packet
                }
                continue
            }
            switch try demuxer.next() {
            case .packet(let packet) where packet.isSound:
                if let packet = sound(packet) { return packet }
            case .packet(let packet): return try picture(packet)
            case .damage(let words):
                soundFraming?.interrupt()
                doubtful = []
                return Packet(
                    time: latestTime, isKeyframe: false, isPicture: false,
                    problem: "a part of the file cannot be read (\(words))")
            case .end: return nil
            }
        }
    }

    /// - Returns: nil if the packet is unusable, or must wait until the first picture's time is known.
    private func sound(_ packet: Demuxer.Packet) -> Packet? {
        guard !packet.isDamaged, packet.bytes.count <= SoundFraming.largestPacket else { return nil }
        let time = packet.time.map { given in
            let isWrapped = latestGiven.map { isFalseWrap(from: $0, to: given) } ?? false
            return given - falseWraps - (isWrapped ? Self.wrap : .zero)
        }
        if let origin {
            guard !isHeldBack(packet.bytes, at: time, origin) else { return nil }
            return sound(packet.bytes, at: time.map { $0 - origin })
        }
        if early.count < Self.mostEarly { early.append((Array(packet.bytes), time)) }
        return nil
    }

    /// Holds sound back while its time is in doubt. Sound that turns out to be right moves to `early`.
    private func isHeldBack(_ bytes: UnsafeRawBufferPointer, at time: Duration?, _ origin: Duration) -> Bool {
        func isStray(_ time: Duration) -> Bool {
            soundFraming?.isStray(time - origin, near: latestTime) ?? false
        }
        let isDoubtful = time.map(isStray) ?? !doubtful.isEmpty
        guard let before = doubtful.lazy.compactMap(\.time).last else {
            if isDoubtful { doubtful = [(Array(bytes), time)] }
            return isDoubtful
        }
        guard let time else {
            let held = doubtful.reduce(0) { $0 + $1.bytes.count }
            if held + bytes.count <= SoundFraming.largestPacket { doubtful.append((Array(bytes), nil)) }
            return true
        }
        if isDoubtful ? (.zero...Self.longestStep).contains(time - before) : !isStray(before) {
            soundFraming?.interrupt()
            (early, doubtful) = (doubtful + [(Array(bytes), time)], [])
            return true
        }
        doubtful = isDoubtful ? [(Array(bytes), time)] : []
        return isDoubtful
    }

    /// The longest time between the beginnings of two successive packets of sound.
    private static let longestStep = Duration.seconds(1)

    private func sound(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> Packet? {
        guard let sound = soundFraming?.packet(bytes, at: time) else { return nil }
        return Packet(
            time: sound.timestamp - .start, isKeyframe: false, isPicture: false, sound: sound)
    }

    /// How many packets of sound may come before the first picture.
    private static let mostEarly = 512

    private func picture(_ packet: Demuxer.Packet) throws(InputError) -> Packet {
        if let configuration = packet.configuration {
            framing = try Self.framing(codec, configuration, name)
        }
        let finding = framing.append(packet.bytes.bytes, to: &bytes)
        // Pictures that an edit list hides come before the beginning.
        let own = packet.time.map(withoutFalseWraps)
        let begun = origin ?? (packet.isHidden ? demuxer.startTime : nil) ?? own
        origin = begun
        let time = own.flatMap { time in begun.map { time - $0 } }
        latestTime = time ?? latestTime
        return Packet(
            time: time, isKeyframe: finding.isKeyframe, allowsEntry: finding.allowsEntry,
            isHidden: packet.isHidden,
            problem: finding.problem ?? (packet.isDamaged ? "the picture is damaged" : nil))
    }

    /// A transport stream's times wrap after 33 bits, and libavformat treats each step back as a wrap. If the
    /// result lies more than half of that ahead, another recording follows.
    private func withoutFalseWraps(_ time: Duration) -> Duration {
        if let latestGiven, isFalseWrap(from: latestGiven, to: time) { falseWraps += Self.wrap }
        latestGiven = time
        return time - falseWraps
    }

    private func isFalseWrap(from latest: Duration, to time: Duration) -> Bool {
        container == .transportStream && time - latest > Self.wrap / 2
    }

    /// The time after which a transport stream's times wrap (ISO/IEC 13818-1, 2.4.3.7).
    private static let wrap = Duration.nanoseconds((Int64(1) << 33) * 1_000_000_000 / 90_000)

    /// Seeks to a keyframe at or before a time, as near as the container allows; it is the next picture read.
    /// Does nothing for a stream.
    /// - Parameter time: from the first picture.
    public func seek(to time: Duration) throws(InputError) {
        guard descriptor != nil else { return }
        pending = nil
        if origin == nil { _ = try next() }
        early = []
        (latestGiven, falseWraps) = (nil, .zero)
        guard let origin else { return }
        // Not every container knows where its keyframes are: the keyframe found may be too late.
        for lead in Self.leads where time > lead {
            guard demuxer.seek(to: origin + time - lead) else { continue }
            framing.interrupt()
            soundFraming?.interrupt()
            doubtful = []
            guard let found = try nextKeyframe(), let there = found.time, there <= time else { continue }
            pending = found
            return
        }
        try rewind()
    }

    /// Restarts at the file's first picture; does nothing for a stream.
    public func rewind() throws(InputError) {
        guard let descriptor else { return }
        (pending, latestGiven, falseWraps) = (nil, nil, .zero)
        let input = ContainerInput(descriptor.number, container, cancellation: cancellation)
        demuxer = try Demuxer(input, kind: container, name: name, takesSound: takesSound)
        framing = try Self.framing(codec, demuxer.configuration, name)
        soundFraming?.interrupt()
        (early, doubtful) = ([], [])
    }

    /// How long before the wanted time to look for a keyframe, in successive attempts.
    private static let leads: [Duration] = [.zero, .seconds(2), .seconds(10), .seconds(60)]

    private func nextKeyframe() throws(InputError) -> Packet? {
        while let packet = try next() {
            if packet.allowsEntry { return packet }
        }
        return nil
    }

    private static func framing(
        _ codec: Codec, _ configuration: [UInt8], _ name: String
    ) throws(InputError) -> PacketFraming {
        do throws(ConfigurationRecordError) {
            return try PacketFraming(codec: codec, configuration: configuration)
        } catch {
            throw InputError(.malformed("its decoder configuration cannot be read: \(error)"), input: name)
        }
    }
}

/// An open file.
private final class Descriptor {
    let number: Int32
    private let isOwned: Bool

    init(_ number: Int32, isOwned: Bool) { (self.number, self.isOwned) = (number, isOwned) }

    deinit { if isOwned { close(number) } }

    /// Detects the kind of stream from the first bytes.
    func streamKind(_ name: String) throws(InputError) -> StreamKind? {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InputError(.notAFile, input: name)
        }
        var head = [UInt8](repeating: 0, count: 4096)
        let count = head.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw InputError(.readFailed(errno: errno), input: name) }
        return StreamKind(head: head.span.bytes.extracting(first: count), isWhole: count < head.count)
    }
}
