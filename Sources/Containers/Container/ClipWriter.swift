import Bitstream
import CFFmpeg
import CamSound
import CamPlatform

/// Copies parts of recordings into one MP4, each picture at its time. Used by one thread.
///
/// The header gets its parameter sets from the first keyframe; different ones stay in the stream.
public final class ClipWriter {
    private let library: cformat_library
    private let stream: StreamDescription
    private let metadata: FileMetadata
    private let destination: any MuxerOutput
    private let options: [(name: String, value: String)]
    private var muxer: Muxer?
    /// The highest place in presentation order so far, and the number of places in earlier parts.
    private var (highest, base) = (-1, 0)
    /// Added to the times of the current part.
    private var shift = Duration.zero

    /// Begins a fragmented MP4, which browsers play while they receive it. `takeBytes` returns its bytes.
    /// - Parameter name: the recording's name in messages.
    public convenience init(fragmenting stream: StreamDescription, name: String) throws(OutputError) {
        try self.init(stream, FileMetadata(), ContainerFormat.browserOptions, to: MuxerMemory(name: name))
    }

    /// Begins a finished MP4, with its index at the front.
    /// - Parameter metadata: what the file says about the recording.
    public convenience init(
        finishing stream: StreamDescription, metadata: FileMetadata, in file: UnnamedFile
    ) throws(OutputError) {
        try self.init(stream, metadata, ContainerFormat.mp4.finishedOptions ?? [], to: file)
    }

    private init(
        _ stream: StreamDescription, _ metadata: FileMetadata, _ options: [(name: String, value: String)],
        to destination: any MuxerOutput
    ) throws(OutputError) {
        do throws(ContainerLibrary.Failure) {
            library = try ContainerLibrary.load()
        } catch {
            throw OutputError(error.ofOutput, output: destination.name)
        }
        (self.stream, self.metadata, self.options, self.destination) = (
            stream, metadata, options, destination
        )
    }

    /// The delay of a fragmented MP4's times against the recording's times: without an edit list in the
    /// header, no decoding time may be negative.
    public var delay: Duration { stream.frameDuration * stream.reordering }

    /// Begins another part.
    /// - Parameter shift: added to the part's times, which puts all parts on one clock.
    public func beginPart(shiftedBy shift: Duration) { (base, self.shift) = (highest + 1, shift) }

    /// Writes the next picture or sound.
    public func write(_ item: RecordingItem) throws(OutputError) {
        switch item {
        case .picture(let unit, let number, let time):
            if muxer == nil {
                muxer = try Muxer(
                    .mp4, library: library, stream: stream, keyframe: unit, metadata: metadata,
                    options: options, to: destination)
            }
            highest = max(highest, base + number)
            try muxer?.write(unit, number: base + number, timestamp: .start + shift + time)
        case .sound(let sound):
            guard stream.sound != nil else { return }
            try muxer?.write(sound, at: sound.timestamp + shift)
        }
    }

    /// Writes the end.
    public func finish() throws(OutputError) { try muxer?.finish() }

    /// The bytes written since the last call; empty for a finished MP4.
    public func takeBytes() -> [UInt8] {
        guard let memory = destination as? MuxerMemory else { return [] }
        defer { memory.bytes = [] }
        return memory.bytes
    }
}
