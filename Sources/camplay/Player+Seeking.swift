import Bitstream
import CamPictures
import Decoder
import Containers

/// Seeking in a file.
extension Player {
    /// Seeks if the viewer has requested it.
    /// - Returns: whether the viewer has requested it.
    func jump() throws(PlayError) -> Bool {
        guard !isDone, !cancellation.isRaised, let presentation, clock != nil,
            let step = presentation.takeJump()
        else { return false }
        let time = max(.zero, position + step)
        presentation.restart()
        sound?.seek(to: time)
        try seek(to: time)
        return true
    }

    /// Continues playing at a time, at the file's own speed: decoding starts at the keyframe before it.
    func seek(to time: Duration) throws(PlayError) {
        discard()
        switch input {
        case .container(let reader, _, _):
            do throws(InputError) { try reader.seek(to: time) } catch { throw .input(error) }
            // Otherwise an earlier time would look like the start of another recording.
            try clock?.go(to: PictureClock.Place())
        case .bytes(let source):
            guard let file = source as? FileSource, let clock else { return }
            let (place, units) = try keyframe(in: file, upTo: time, clock)
            try clock.go(to: place)
            unitsToPass = units
            try file.rewind()
        }
        start = time
    }

    /// Finds the last keyframe up to a time.
    private func keyframe(
        in file: FileSource, upTo time: Duration, _ clock: PictureClock
    ) throws(PlayError) -> (PictureClock.Place, unitCount: Int) {
        var search = try KeyframeSearch(upTo: time, clock)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkLength, alignment: 16)
        defer { room.deallocate() }
        self.search = search
        try file.rewind()
        while let search = self.search, !search.isOver, case .bytes(let count) = try file.read(into: room) {
            try take(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
        try pipeline?.assembler.finish { (unit) throws(PlayError) in try play(unit) }
        search = self.search.take() ?? search
        search.finish()
        discard()
        return (search.place, search.unitCount)
    }

    /// Discards everything read so far.
    private func discard() {
        (head, isUnknown) = ([], true)
        outputs.interrupt()
        giveUp()
    }

    /// Discards pictures that were read but not yet played.
    func giveUp() {
        guard let pipeline else { return }
        pipeline.assembler.abandon()
        pipeline.decoder.discard()
        while let picture = try? pipeline.decoder.nextPicture() { _ = consume picture }
        count()
    }
}

// MARK: Keyframes

/// Finds the keyframe at which decoding a raw stream must begin to play it from a given time, without
/// decoding it.
struct KeyframeSearch {
    /// The number of access units before the keyframe.
    private(set) var unitCount = 0
    /// The clock's position before the keyframe.
    private(set) var place: PictureClock.Place
    /// Whether the time was reached.
    private(set) var isOver = false

    private let time: Duration
    private let clock: PictureClock
    private var seen = 0
    private var rate: FrameRate?
    private var candidate: Candidate?

    /// A keyframe for which it is not yet known which pictures are shown before it.
    private struct Candidate {
        let unitCount: Int
        /// The clock's position before it, in output order.
        var place: PictureClock.Place
        let role: PictureRole

        /// Whether a later picture is shown before it, but is not decoded if decoding begins with it.
        func leavesOut(_ other: PictureRole) -> Bool {
            if role.isEntryPoint { return other.isSkippedLeading }
            guard let order = role.order, let otherOrder = other.order else { return false }
            return !other.isEntryPoint && otherOrder < order
        }
    }

    /// Begins at the stream's first picture.
    /// - Parameter time: at the stream's own speed.
    init(upTo time: Duration, _ clock: PictureClock) throws(PlayError) {
        (self.time, self.clock) = (time, clock)
        place = PictureClock.Place()
        try clock.go(to: place)
    }

    /// Notes the next access unit.
    mutating func note(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
        guard unit.hasPicture, !isOver else { return }
        let before = clock.place
        if unit.role.allowsEntry { rate = unit.format?.frameRate }
        if candidate?.leavesOut(unit.role) == true { candidate?.place = before } else { settle() }
        if unit.isEntryPoint || unit.role.recoveryPoint?.count == 0, before.time <= time {
            candidate = Candidate(unitCount: seen, place: before, role: unit.role)
        }
        _ = try clock.next(rate: clock.frameRate ?? rate)
        seen += 1
        isOver = clock.place.time > time && candidate == nil
    }

    /// Ends the stream.
    mutating func finish() { settle() }

    /// Chooses the candidate if it is shown in time.
    private mutating func settle() {
        // The clock has reached the keyframe itself, in output order.
        guard let candidate = candidate.take(), clock.place.time <= time else { return }
        (unitCount, place) = (candidate.unitCount, candidate.place)
    }
}
