import Bitstream

/// Pictures in decoding order that wait for their place in presentation order, and with it their time.
struct PictureQueue {
    /// A picture that can be written.
    typealias Timed = (unit: AccessUnit, number: Int, timestamp: Int64)

    private var numbering: PresentationNumbering
    private var waiting: [(unit: AccessUnit, place: (number: Int, timestamp: Int64)?)] = []
    /// Place in decoding order of the first that waits.
    private var firstIndex = 0

    /// More pictures than any encoder codes between one and those presented ahead of it.
    static let limit = 64

    init(reordering: Int) { numbering = PresentationNumbering(reordering: reordering) }

    /// Whether more pictures wait than any encoder makes wait.
    var isOverfull: Bool { waiting.count > Self.limit }

    /// - Parameter timestamp: gives the time of the next picture in presentation order.
    mutating func append(
        _ picture: RawStream.Picture, timestamp: (_ number: Int) throws(RemuxError) -> Int64
    ) throws(RemuxError) {
        waiting.append((picture.unit, nil))
        try numbering.append(picture.order) { (index, number) throws(RemuxError) in
            waiting[index - firstIndex].place = (number, try timestamp(number))
        }
    }

    /// No more pictures come.
    mutating func finish(timestamp: (_ number: Int) throws(RemuxError) -> Int64) throws(RemuxError) {
        try numbering.finish { (index, number) throws(RemuxError) in
            waiting[index - firstIndex].place = (number, try timestamp(number))
        }
    }

    /// The next picture in decoding order, once its time is known.
    mutating func next() -> Timed? {
        guard let place = waiting.first?.place else { return nil }
        firstIndex += 1
        return (waiting.removeFirst().unit, place.number, place.timestamp)
    }
}
