import Bitstream
import CamPlatform
import CamSound
import Decoder
import Containers

/// Playing a container, from a file or a stream.
extension Player {
    func readPictures(of reader: ContainerReader) throws(PlayError) {
        liveSound?.end()
        isUnknown = false
        if pipeline?.assembler.codec != reader.codec { pipeline = makePipeline(reader.codec) }
        var begun: SoundDescription?
        // A read of the file may have many pictures; the viewer may quit before the next one.
        while !isDone, !cancellation.isRaised, let packet = try next(of: reader) {
            if let sound = packet.sound {
                if let description = reader.sound, description != begun {
                    liveSound?.begin(description)
                    begun = description
                }
                liveSound?.add(sound, arrival: .now)
                continue
            }
            if case .container = input { report.bytes += reader.bytes.count }
            let picture = reader.bytes
            let arrival = Instant.now
            if let time = packet.time { liveSound?.notePicture(at: time, arrival: arrival) }
            if let problem = packet.problem {
                try reject(problem)
            } else {
                try gatherWhole(picture, packet, arrival: arrival)
            }
            _ = try jump()
        }
    }

    /// - Returns: nil at the end, or if the user interrupts.
    private func next(of reader: ContainerReader) throws(PlayError) -> ContainerReader.Packet? {
        do throws(InputError) { return try reader.next() } catch {
            guard error.kind != .interrupted else { return nil }
            // The data gathered so far is complete.
            try endStream(isWhole: true)
            throw .input(error)
        }
    }

    /// Gathers a complete picture. Its time passes through the decoder as an arrival time on a clock that
    /// starts with the file, unless it is live.
    private func gatherWhole(
        _ picture: [UInt8], _ packet: ContainerReader.Packet, arrival: Instant
    ) throws(PlayError) {
        guard let assembler = pipeline?.assembler else { return }
        let time = isLive ? arrival : packet.time.map { Instant.start + $0 }
        func play(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
            try self.play(unit, isHidden: packet.isHidden)
        }
        try assembler.add(picture.span.bytes, arrival: time, play)
        try assembler.finish(arrival: time, play)
    }

    /// Plays a container that comes as a stream, until it ends.
    func readContainer(_ kind: StreamContainer, from source: any ByteSource) throws(PlayError) {
        let bytes = ContainerBytes(source, isLive: isLive, head: head) { [self] count, waited in
            note(count, waited: waited)
            if isLive { warnIfNothingPlays() }
        }
        head.removeAll()
        hasTimes = !isLive
        defer { hasTimes = input.hasTimes }
        do throws(PlayError) { try readPictures(of: openContainer(kind, bytes)) } catch {
            if let failure = bytes.failure { throw failure }
            guard case .input(let reason) = error, source.giveUp(reason.problem) else { throw error }
            return try endStream(isWhole: false)
        }
        switch bytes.end {
        case .interrupted(let isWhole)?: try endStream(isWhole: isWhole)
        // Another stream follows the container.
        case nil where !isDone: try endStream(isWhole: true)
        default: break
        }
    }

    private func openContainer(
        _ kind: StreamContainer, _ bytes: ContainerBytes
    ) throws(PlayError) -> ContainerReader {
        do throws(InputError) {
            return try ContainerReader(
                streaming: kind, name: input.name, takesSound: liveSound != nil, bytes.read)
        } catch { throw .input(error) }
    }
}

// MARK: Bytes

/// The bytes of a container from a source that can be read only once. Used by one thread.
final class ContainerBytes {
    private let source: any ByteSource
    private let isLive: Bool
    /// The first bytes, already read to recognize the container.
    private var head: ArraySlice<UInt8>
    private let note: (_ count: Int, _ waited: Bool) -> Void
    /// How the source ended; nil if it has not.
    private(set) var end: Reading?
    /// Why reading failed, which cannot be passed through libavformat.
    private(set) var failure: PlayError?

    /// - Parameters:
    ///   - head: the first bytes, already read to recognize the container.
    ///   - note: called with the number of bytes read, 0 in a pause, and whether the read had to wait.
    init(
        _ source: any ByteSource, isLive: Bool, head: [UInt8],
        note: @escaping (_ count: Int, _ waited: Bool) -> Void
    ) {
        (self.source, self.isLive, self.head, self.note) = (source, isLive, head[...], note)
    }

    /// Waits for the next bytes.
    /// - Returns: the number of bytes; 0 at the end, negative after a failure.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        if !head.isEmpty {
            let count = min(head.count, room.count)
            room.copyBytes(from: head.prefix(count))
            head.removeFirst(count)
            return count
        }
        do throws(PlayError) {
            while end == nil {
                let waits = isLive && !source.isReady
                switch try source.read(into: room) {
                case .bytes(let count):
                    note(count, waits)
                    return count
                case .pause: note(0, true)
                case let reading: end = reading
                }
            }
            return 0
        } catch {
            failure = error
            return -1
        }
    }
}
