import Bitstream
import CFFmpeg
import CamPlatform
import Glibc
import CamSound

/// Writes access units to Matroska, MP4 or a transport stream, each at its capture time, or at its playing time in a
/// time lapse.
///
/// The first picture is at time 0. Existing files are rejected or replaced as by `FileSink`. Pipes and
/// standard output work, too, but without the index that a file gets at its end.
///
/// A fragment or cluster is written as a whole when it is complete, at least once a second, and is flushed to
/// the disk at most a second later: however the recording ends, the file plays up to the last of them. A
/// transport stream grows with every access unit. If a write fails, the file ends there; a new file that
/// contains nothing is removed.
///
/// The header of Matroska and MP4 gets its parameter sets from the first IDR picture, and these are omitted
/// before IDR pictures (ISO/IEC 14496-15, 5.3.3 and 8.3.3: avc1 and hvc1 have them in the header). Different
/// ones stay in place: decoders follow the change, although neither avcC nor hvcC can express it.
public final class ContainerSink: AccessUnitSink {
    private let file: OutputFile
    private let format: ContainerFormat
    private var stream: StreamDescription
    private let metadata: FileMetadata
    private let captureClock: (any TimeSource)?
    private let sharedClock: SharedPacketClock?
    private let library: cformat_library
    private var muxer: Muxer?
    /// The time after which a cluster or fragment ends.
    private let pieceDuration: Duration
    /// Written since the last `keep`: an error would discard them.
    private var unkept = WrittenUnits()
    private var retracted = WrittenUnits()
    private var lastSynchronization = Instant.distantPast

    /// How often written data is flushed to the disk.
    private static let synchronizationInterval = Duration.seconds(1)
    /// The longest time that libavformat holds pictures back.
    private static let longestPiece = Duration.seconds(1)

    /// Opens `path`, or standard output for `-`.
    /// - Parameters:
    ///   - stream: what will be written.
    ///   - metadata: metadata for the file's header.
    ///   - captureClock: the clocks of the access units' timestamps, for the start time in the header; nil if
    ///     unknown.
    ///   - cancellation: ends a wait for a pipe's reader.
    ///   - synchronizer: flushes written data to the disk, more often than once a second; pictures are then
    ///     held back no longer than its interval.
    ///   - sharedClock: makes a transport stream continue the file before it; nil to begin at 0.
    ///   - isFinished: whether an MP4 has its index at the front, and appears only once it is complete; not if
    ///     the output is a pipe.
    public init(
        path: String, format: ContainerFormat, overwrite: Bool, stream: StreamDescription,
        metadata: FileMetadata = FileMetadata(), captureClock: (any TimeSource)? = nil,
        cancellation: CancellationFlag, synchronizer: DiskSynchronizer? = nil,
        sharedClock: SharedPacketClock? = nil, isFinished: Bool = false
    ) throws(OutputError) {
        do throws(ContainerLibrary.Failure) {
            library = try ContainerLibrary.load()
        } catch {
            throw OutputError(error.ofOutput, output: path)
        }
        file = try OutputFile(
            path: path, overwrite: overwrite, cancellation: cancellation, synchronizer: synchronizer,
            isStaged: isFinished && format.finishedOptions != nil)
        (self.format, self.stream, self.metadata, self.captureClock) = (
            format, stream, metadata, captureClock
        )
        self.sharedClock = format == .transportStream ? sharedClock : nil
        // A second of a time lapse may have taken minutes.
        let longest = stream.playbackRate == nil ? Self.longestPiece : stream.frameDuration
        pieceDuration = min(longest, synchronizer?.interval ?? longest)
    }

    /// Creates a file of a program that does not end the wait for a pipe's reader.
    /// - Throws: `OutputError` if libavformat is missing, or the file cannot be created.
    public convenience init(
        path: String, format: ContainerFormat, stream: StreamDescription, overwrite: Bool = false
    ) throws(OutputError) {
        guard let cancellation = CancellationFlag() else {
            throw OutputError(.notCreated(errno: EMFILE), output: path)
        }
        try self.init(
            path: path, format: format, overwrite: overwrite, stream: stream, cancellation: cancellation,
            isFinished: true)
    }

    public var name: String { file.name }

    /// The number of bytes of the file that can be played.
    public var bytesWritten: Int { file.keptCount }

    /// The identity of the file that it writes.
    public var identity: FileIdentity? { file.identity }

    /// Writes an access unit; the first one is an IDR picture with its parameter sets.
    public func write(_ unit: AccessUnit) throws(OutputError) {
        try write(
            unit, number: unit.frameNumber, timestamp: unit.timestamp, playedAt: stream.playingTime(of: unit))
    }

    /// Writes an access unit with an explicit number in presentation order, and explicit times.
    /// - Parameter time: the playing time, if it differs from the capture time.
    package func write(
        _ unit: AccessUnit, number: Int, timestamp: Instant, playedAt time: Instant? = nil
    ) throws(OutputError) {
        do throws(OutputError) {
            if muxer == nil { muxer = try begin(with: unit, at: timestamp) }
            let kept = file.keptCount
            try muxer?.write(unit, number: number, timestamp: time ?? timestamp)
            try keep()
            // A fragment or cluster is written as a whole when the next one begins, a transport stream's
            // picture at once.
            if file.keptCount > kept { unkept = WrittenUnits() }
            if file.keptCount == kept || format != .transportStream { unkept.add(unit) }
        } catch { throw abandon(because: error) }
    }

    public var takesSound: Bool { stream.sound != nil }

    public func write(_ sound: SoundPacket) throws(OutputError) {
        guard let muxer else { return }
        do throws(OutputError) {
            let kept = file.keptCount
            try muxer.write(sound)
            try keep()
            if file.keptCount > kept { unkept = WrittenUnits() }
        } catch { throw abandon(because: error) }
    }

    /// Flushes an MP4, which would otherwise wait for sound, in memory, until the end.
    public func endSound() throws(OutputError) {
        stream.sound = nil
        guard let muxer, format == .mp4, !file.isStaged else { return }
        do throws(OutputError) {
            try muxer.flush()
            try keep()
        } catch { throw abandon(because: error) }
    }

    public func takeRetracted() -> WrittenUnits { retracted.takeAll() }

    /// Discards pending data: the file ends at the last complete piece.
    private func abandon(because error: OutputError) -> OutputError {
        if let muxer { sharedClock?.clock = muxer.clock }
        retracted.add(unkept.takeAll())
        file.abandon()
        return error
    }

    /// A container's header applies to the whole file.
    public func beginStream(_ description: StreamDescription) throws(OutputError) {
        throw OutputError(.formatChanged, output: name)
    }

    public func finish() throws(OutputError) {
        do throws(OutputError) {
            if let muxer {
                if !file.isStaged {
                    try muxer.flush()
                    try keep()
                    unkept = WrittenUnits()
                }
                try muxer.finish()
                try muxer.sealFragment()
                file.keep()
                sharedClock?.clock = muxer.clock
                self.muxer = nil
            }
            try file.close()
        } catch { throw abandon(because: error) }
    }

    /// Begins the container. Its header states when the first picture was captured.
    private func begin(with unit: AccessUnit, at timestamp: Instant) throws(OutputError) -> Muxer {
        var metadata = metadata
        metadata.start = captureClock?.wallTime(at: timestamp)
        return try Muxer(
            format, library: library, stream: stream, keyframe: unit, metadata: metadata,
            options: (file.isStaged ? format.finishedOptions : nil)
                ?? format.muxerOptions(pieceDuration: pieceDuration), continuing: sharedClock?.clock, to: file
        )
    }

    /// Between two calls of libavformat the file ends with something complete. Whatever else a power cut
    /// destroys, a fragment does not become valid before it is on the disk.
    private func keep() throws(OutputError) {
        guard let muxer, !file.isStaged, file.count > max(muxer.headerCount, file.keptCount) else { return }
        let now = Instant.now
        if now - lastSynchronization >= Self.synchronizationInterval {
            try file.synchronize()
            lastSynchronization = now
        }
        try muxer.sealFragment()
        file.keep()
    }
}
