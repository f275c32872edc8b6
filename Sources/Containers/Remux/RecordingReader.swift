import Bitstream
import CamSound
import CamPlatform

/// Reads a recording's open file from any keyframe: a container, or a raw stream, whose pictures state their capture
/// times or follow each other at the nominal rate. Used by one thread.
///
/// All times count from the file's first picture. Memory is bounded for any file.
public final class RecordingReader {
    /// The stream as described by the first keyframe and the container.
    public let description: StreamDescription
    /// The first keyframe.
    public let firstKeyframe: AccessUnit
    /// Whether the pictures have times of their own.
    public var hasTimes: Bool { stream.hasTimes }
    /// What the file says about the recording.
    public var metadata: FileMetadata {
        var metadata = stream.metadata
        metadata.start = metadata.start ?? captureStart
        return metadata
    }

    private let stream: any PictureStream
    /// The capture time of a raw stream's first picture; nil if it does not state any.
    private let captureStart: WallTime?

    /// Opens a file and reads its first keyframe. The caller keeps the descriptor, and keeps it open as long as the
    /// reader exists.
    /// - Parameters:
    ///   - name: the file's name in messages.
    ///   - cancellation: ends reading.
    public init(
        descriptor: Int32, name: String, cancellation: CancellationFlag? = nil
    ) throws(RemuxError) {
        let stream = try RemuxError.ofInput { () throws(InputError) -> any PictureStream in
            let file = try InputFile(descriptor: descriptor, name: name)
            guard case .container? = try file.kind() else { return try RawStream(file) }
            return try ContainerStream(descriptor: descriptor, name: name, cancellation: cancellation)
        }
        guard let keyframe = try stream.firstKeyframe(), var description = StreamDescription(keyframe) else {
            throw .input(InputError(.malformed("there is no keyframe to begin with"), input: name))
        }
        description.sound = stream.sound
        guard stream.hasTimes || description.frameRate != nil else { throw .noFrameRate(input: name) }
        captureStart = stream.hasTimes ? nil : keyframe.captureTime
        (self.stream, self.description, firstKeyframe) = (stream, description, keyframe)
    }

    /// The end of the last picture. Reads a raw stream completely, and the part
    /// of a container that has no index.
    /// - Parameter isOver: called now and then; true ends the reading.
    /// - Returns: nil if the reading ended early.
    public func length(isOver: () -> Bool = { false }) throws(RemuxError) -> Duration? {
        var last = Duration.zero
        if let container = stream as? ContainerStream {
            last = try container.lastTime(isOver: isOver)
        } else {
            try pictures.forEach(isOver: isOver) { (picture, _) in last = max(last, picture.time) }
        }
        return isOver() ? nil : last + description.frameDuration
    }

    /// Finds the keyframes at which a part begins and ends.
    /// - Parameters:
    ///   - from: the part begins at the last keyframe at or before this time.
    ///   - until: it ends before the first keyframe at or after this time.
    ///   - isOver: called now and then; true ends the search.
    /// - Returns: nil if there is no keyframe.
    public func part(
        from: Duration, until: Duration, isOver: () -> Bool = { false }
    ) throws(RemuxError) -> Part? {
        var part: Part?
        try pictures.forEach(near: from, isOver: { part?.end != nil || isOver() }) { (picture, _) in
            guard picture.unit.isIDR, part?.end == nil else { return }
            if let begun = part, picture.time >= until, picture.time > begun.start {
                part?.end = picture.time
            } else if part == nil || picture.time <= from {
                part = Part(start: picture.time)
            }
        }
        return part
    }

    /// Returns the last keyframe at or before a time, or else the first one, with its time.
    public func keyframe(
        at time: Duration, isOver: () -> Bool = { false }
    ) throws(RemuxError) -> (unit: AccessUnit, time: Duration)? {
        var found: (unit: AccessUnit, time: Duration)?
        var isPast = false
        try pictures.forEach(near: time, isOver: { isPast || isOver() }) { (picture, _) in
            if found != nil, picture.time > time { isPast = true }
            if picture.unit.isIDR, !isPast { found = (picture.unit, picture.time) }
        }
        return found
    }

    /// A part of a recording, from one keyframe to another.
    public struct Part: Sendable, Hashable {
        /// The first picture's time.
        public var start: Duration
        /// The time of the keyframe after the last picture; nil at the recording's end.
        public var end: Duration?

        /// Creates a part; by default up to the end.
        public init(start: Duration, end: Duration? = nil) { (self.start, self.end) = (start, end) }
    }

    /// Reads a part: the pictures in decoding order, with each packet of sound
    /// before the first picture shown later.
    /// - Parameter isOver: called now and then; true ends the reading.
    public func read(
        _ part: Part, isOver: () -> Bool = { false },
        _ body: (RecordingItem) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var (hasBegun, hasEnded) = (false, false)
        var sounds = RemuxInterleaver(nil)
        func isWithin(_ sound: SoundPacket) -> Bool {
            let time = sound.timestamp - .start
            return time >= part.start && time < part.end ?? time + .nanoseconds(1)
        }
        try pictures.forEach(
            near: part.start, isOver: { hasEnded || isOver() },
            sound: { if isWithin($0) { sounds.append($0) } }
        ) { (picture, _) throws(RemuxError) in
            sounds.note(picture.time, isIDR: picture.unit.isIDR)
            while hasBegun, let sound = sounds.next() { try body(.sound(sound)) }
            if picture.unit.isIDR {
                if picture.time >= part.start { hasBegun = true }
                if let end = part.end, picture.time >= end { hasEnded = true }
            }
            guard hasBegun, !hasEnded else { return }
            try body(.picture(picture.unit, number: picture.number, time: picture.time))
        }
        while hasBegun, let sound = sounds.rest() { try body(.sound(sound)) }
    }

    private var pictures: TimedPictures {
        TimedPictures(
            stream: stream, timestamps: nil, captureStart: captureStart, description: description,
            undecodableCount: 0)
    }
}

/// What a recording has next.
public enum RecordingItem {
    /// A picture with its place in presentation order and its time.
    case picture(AccessUnit, number: Int, time: Duration)
    /// Sound, on a clock that starts with the file's first picture.
    case sound(SoundPacket)
}

extension PictureStream {
    /// The first picture that can be decoded; nil if there is none.
    fileprivate func firstKeyframe() throws(RemuxError) -> AccessUnit? {
        var found: AccessUnit?
        try forEach(isOver: { found != nil }) { (piece) in
            if case .picture(let picture) = piece, found == nil { found = picture.unit }
        }
        return found
    }
}

extension StreamDescription {
    /// Describes a stream by a keyframe; nil if that has no parameter sets that can be read.
    fileprivate init?(_ keyframe: AccessUnit) {
        var sets = StreamParameterSets(codec: keyframe.codec)
        sets.insert(leadingSetsOf: keyframe)
        self.init(sets)
    }
}
