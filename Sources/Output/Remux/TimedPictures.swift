import Bitstream
import CamSound
import CamPlatform

/// The pictures of a recording in decoding order, each with its time and its place in presentation order.
struct TimedPictures {
    let stream: any PictureStream
    /// Nil for pictures that have times of their own, or come at a constant rate.
    let timestamps: TimestampFile?
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
            case .picture(let picture): try queue.append(picture, time: time)
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
