import Bitstream

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

    /// - Parameter time: returns the time of the next picture in presentation order, if pictures have none of
    ///   their own.
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
