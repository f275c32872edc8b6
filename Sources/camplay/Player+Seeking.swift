import Decoder
import Output

/// Seeking in a file.
extension Player {
    /// Seeks to where the viewer wants to go.
    /// - Returns: whether the viewer requested that.
    func jump() throws(PlayError) -> Bool {
        guard !isDone, !interruption.isRaised, let presentation, clock != nil,
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
            // Otherwise an earlier time would be taken for that of another recording.
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
        try pipeline?.gatherer.finish { (unit) throws(PlayError) in try play(unit) }
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
        pipeline.gatherer.abandon()
        pipeline.decoder.discard()
        while let picture = try? pipeline.decoder.nextPicture() { _ = consume picture }
        count()
    }
}
