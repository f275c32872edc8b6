import Bitstream
import CamPlatform
import CamSound

/// The pictures of a recording in decoding order, each with its time and its place in presentation order.
struct TimedPictures {
    let stream: any PictureStream
    /// Nil for pictures that have times of their own, or come at a constant rate.
    let timestamps: TimestampFile?
    /// The zero of the capture times in the pictures; nil if others count.
    let captureStart: WallTime?
    let description: StreamDescription
    /// The number of pictures before the first that can be decoded, which have times in the file.
    let undecodableCount: Int

    /// Reads the recording.
    /// - Parameters:
    ///   - start: reading may begin at a keyframe before this time; places and numbers then count from there.
    ///   - isOver: called now and then; true ends the reading.
    ///   - sound: called for sound, where the file has it.
    func forEach(
        near start: Duration = .zero, isOver: () -> Bool = { false },
        sound: (SoundPacket) throws(RemuxError) -> Void = { _ in },
        _ body: (_ picture: PictureQueue.Timed, _ index: Int) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        var queue = PictureQueue(reordering: description.reordering)
        var index = 0
        var timeline = captureStart.map {
            CaptureTimeline(start: $0, frameDuration: description.frameDuration)
        }
        func deliver() throws(RemuxError) {
            while let next = queue.next() {
                try body(next, index)
                index += 1
            }
        }
        try skipTimestamps()
        try stream.forEach(near: start, isOver: isOver) { (piece) throws(RemuxError) in
            switch piece {
            case .undecodable: return
            case .sound(let packet): return try sound(packet)
            case .picture(var picture):
                if let time = timeline?.time(of: picture.captureTime) { picture.time = time }
                try queue.append(picture, time: time)
            }
            try deliver()
            guard !queue.isOverfull else { throw malformed("pictures are reordered too far") }
        }
        try queue.finish(time: time)
        try deliver()
    }

    /// Finds the keyframes where a part begins and ends.
    func cut(_ range: RemuxRange) throws(RemuxError) -> RemuxCut {
        var cut = RemuxCut(range)
        var origin: Duration?
        try forEach { (picture, index) throws(RemuxError) in
            let first = origin ?? picture.time
            origin = first
            cut.note(isKeyframe: picture.unit.isIDR, time: picture.time - first, index: index)
        }
        guard range.start ?? .zero <= cut.latest else {
            throw .beyondEnd(input: stream.path, lastPicture: cut.latest)
        }
        return cut
    }

    /// The time of a picture. Called once for each, in presentation order.
    private func time(_ number: Int) throws(RemuxError) -> Duration {
        if stream.hasTimes { throw malformed("picture \(number + 1) has no time") }
        guard let timestamps else {
            let rate = description.frameRate?.framesPerSecond ?? 1
            return .nanoseconds(Int64((Double(number) * 1e9 / rate).rounded()))
        }
        guard let time = try RemuxError.ofInput({ () throws(InputError) in try timestamps.next() }) else {
            throw .input(InputError(.malformed("it has become shorter"), input: timestamps.path))
        }
        return time
    }

    private func skipTimestamps() throws(RemuxError) {
        guard let timestamps else { return }
        try RemuxError.ofInput { () throws(InputError) in
            try timestamps.rewind()
            for _ in 0..<undecodableCount { _ = try timestamps.next() }
        }
    }

    private func malformed(_ problem: String) -> RemuxError {
        .input(InputError(.malformed(problem), input: stream.path))
    }
}

// MARK: - Capture times

/// The time line of pictures that state when they were captured.
///
/// A wall clock may be set while a recording goes on: at such a step the time line goes on by one frame.
struct CaptureTimeline {
    /// The capture time at zero.
    private var start: WallTime
    private let frameDuration: Duration
    private var latest: Duration?

    /// Steps beyond these show that the clock was set. Reordered pictures step back a little, and cameras may be away
    /// for long.
    private static let plausibleSteps = Duration.seconds(-1)...Duration.seconds(86_400)

    init(start: WallTime, frameDuration: Duration) {
        (self.start, self.frameDuration) = (start, frameDuration)
    }

    /// The time of the next picture in decoding order; one that states no capture time follows the previous one.
    mutating func time(of captured: WallTime?) -> Duration {
        var time = captured.map { $0 - start }
        if let latest, !(time.map { Self.plausibleSteps.contains($0 - latest) } ?? false) {
            time = latest + frameDuration
            if let captured { start = captured - (latest + frameDuration) }
        }
        latest = time ?? .zero
        return time ?? .zero
    }
}

// MARK: - Waiting for a number

/// Pictures in decoding order that wait until their place in presentation order, and so their time, is known.
struct PictureQueue {
    /// A picture that can be written.
    typealias Timed = (unit: AccessUnit, number: Int, time: Duration)

    private var numbering: PresentationNumbering
    private var waiting: [(unit: AccessUnit?, time: Duration?, place: (number: Int, time: Duration)?)] = []
    /// The place in decoding order of the first waiting picture.
    private var firstIndex = 0

    /// More pictures than any encoder codes between one and those presented before it.
    static let limit = 64

    init(reordering: Int) { numbering = PresentationNumbering(reordering: reordering) }

    /// Whether more pictures wait than any encoder would cause.
    var isOverfull: Bool { waiting.count > Self.limit }

    /// - Parameter time: returns the time of the next picture in presentation
    ///   order, for streams without times.
    mutating func append(
        _ picture: StreamPicture, time: (_ number: Int) throws(RemuxError) -> Duration
    ) throws(RemuxError) {
        waiting.append((picture.unit, picture.time, nil))
        try numbering.append(picture.order) { (index, number) throws(RemuxError) in
            let own = waiting[index - firstIndex].time
            waiting[index - firstIndex].place = (number, try Self.time(own, number, time))
        }
    }

    /// Ends the stream.
    mutating func finish(time: (_ number: Int) throws(RemuxError) -> Duration) throws(RemuxError) {
        try numbering.finish { (index, number) throws(RemuxError) in
            let own = waiting[index - firstIndex].time
            waiting[index - firstIndex].place = (number, try Self.time(own, number, time))
        }
    }

    private static func time(
        _ own: Duration?, _ number: Int, _ time: (_ number: Int) throws(RemuxError) -> Duration
    ) throws(RemuxError) -> Duration {
        if let own { return own }
        return try time(number)
    }

    /// The next picture in decoding order, once its time is known.
    mutating func next() -> Timed? {
        while let place = waiting.first?.place {
            firstIndex += 1
            guard let unit = waiting.removeFirst().unit else { continue }
            return (unit, place.number, place.time)
        }
        return nil
    }
}

// MARK: - Numbering

/// Numbers pictures, which arrive in decoding order, by their place in presentation order.
struct PresentationNumbering {
    /// The order counts of pictures that wait for a number, the smallest first,
    /// with their places in decoding order.
    private var waiting: [(count: Int, index: Int)] = []
    private var nextIndex = 0
    private var nextNumber = 0
    /// How many pictures at most precede another in decoding order and follow it in presentation order.
    private let reordering: Int

    init(reordering: Int) { self.reordering = reordering }

    /// Takes the next picture in decoding order.
    /// - Parameter assign: called with the place in decoding order and the number of each picture that gets
    ///   its number now.
    mutating func append<Failure: Error>(
        _ order: PictureOrderCounter.Order, assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        if order.beginsSequence { try finish(assign: assign) }
        let place = waiting.firstIndex { $0.count > order.count } ?? waiting.endIndex
        waiting.insert((order.count, nextIndex), at: place)
        nextIndex += 1
        if waiting.count > reordering { try assignFirst(assign) }
    }

    /// Numbers the remaining pictures, because no more will arrive.
    mutating func finish<Failure: Error>(
        assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        while !waiting.isEmpty { try assignFirst(assign) }
    }

    private mutating func assignFirst<Failure: Error>(
        _ assign: (_ index: Int, _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        try assign(waiting.removeFirst().index, nextNumber)
        nextNumber += 1
    }
}

/// Measures how far a stream reorders.
struct ReorderingMeter {
    /// How many pictures at most precede another in decoding order and follow it in presentation order; never
    /// more than the standards allow.
    private(set) var reordering = 0
    /// The highest order counts of the current sequence, in ascending order.
    private var highest: [Int] = []

    mutating func append(_ order: PictureOrderCounter.Order) {
        if order.beginsSequence { highest.removeAll(keepingCapacity: true) }
        let place = highest.firstIndex { $0 > order.count } ?? highest.endIndex
        reordering = max(reordering, highest.count - place)
        highest.insert(order.count, at: place)
        if highest.count > PresentationOrder.largestReordering { highest.removeFirst() }
    }
}
