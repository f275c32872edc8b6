import CamSound
import Testing
import CamPlatform

@testable import camplay

/// Where a file's sound is on the clock of its pictures, if recordings follow each other.
@Suite struct JoinedSoundTests {
    private static let frame = Duration.milliseconds(40)
    private static let packet = Duration.milliseconds(20)

    private func add(_ milliseconds: Int64, to joined: inout JoinedSound) throws {
        joined.add(
            try #require(
                SoundPacket(
                    [1], timestamp: .start + .milliseconds(milliseconds), duration: Self.packet)))
    }

    private func note(_ milliseconds: Int64, _ allowsEntry: Bool = false, in joined: inout JoinedSound) {
        joined.notePicture(at: .milliseconds(milliseconds), allowsEntry: allowsEntry) { Self.frame }
    }

    /// When the pieces that are ready are due, in milliseconds, and which of them begin a recording.
    private func pieces(_ joined: inout JoinedSound) -> (dues: [Int64], beginnings: [Int64]) {
        var (dues, beginnings): ([Int64], [Int64]) = ([], [])
        while let piece = joined.next() {
            let due = (piece.packet.timestamp - .start + piece.offset).inMilliseconds
            dues.append(due)
            if piece.begins { beginnings.append(due) }
        }
        return (dues, beginnings)
    }

    @Test("after ten joins sound is where its pictures are", arguments: [400, 460, 540] as [Int64])
    func tenJoins(soundLength: Int64) throws {
        var joined = JoinedSound()
        let clock = try PictureClock(ShowingOptions.parse([]))
        for _ in 0...10 {
            var begun: Int64?
            // Twelve pictures, 480 ms; sound of another length between them.
            for time in stride(from: 0, to: 600, by: 20) as StrideTo<Int64> {
                if time < 480, time % 40 == 0 {
                    note(time, time == 0, in: &joined)
                    let due = try clock.next(rate: nil, time: .milliseconds(time)).inMilliseconds
                    begun = begun ?? due
                }
                if time < soundLength { try add(time, to: &joined) }
            }
            let (dues, beginnings) = pieces(&joined)
            let start = try #require(begun)
            #expect(dues == Array(stride(from: start, to: start + soundLength, by: 20)))
            #expect(beginnings == [start])
        }
    }

    @Test("sound that comes before its recording's first picture waits for it")
    func soundFirst() throws {
        var joined = JoinedSound()
        note(0, true, in: &joined)
        for time in [0, 200, 400] as [Int64] { try add(time, to: &joined) }
        try add(10, to: &joined)
        try add(30, to: &joined)
        #expect(pieces(&joined).dues == [0, 200, 400])
        note(440, in: &joined)
        #expect(pieces(&joined).dues.isEmpty)
        note(0, true, in: &joined)
        let (dues, beginnings) = pieces(&joined)
        #expect(dues == [490, 510])
        #expect(beginnings == [490])
    }

    @Test("sound that comes after the next recording's first picture belongs to the one before")
    func soundLast() throws {
        var joined = JoinedSound()
        note(0, true, in: &joined)
        try add(400, to: &joined)
        note(440, in: &joined)
        note(0, true, in: &joined)
        try add(420, to: &joined)
        try add(0, to: &joined)
        #expect(pieces(&joined).dues == [400, 420, 480])
    }

    @Test("reordered pictures begin no recording")
    func reordered() throws {
        var joined = JoinedSound()
        note(0, true, in: &joined)
        try add(0, to: &joined)
        for time in [320, 160, 80, 40] as [Int64] { note(time, in: &joined) }
        try add(20, to: &joined)
        note(360, true, in: &joined)
        try add(40, to: &joined)
        #expect(pieces(&joined).dues == [0, 20, 40])
        #expect(joined.pictureTime == .milliseconds(360))
    }

    @Test("sound that steps back alone waits for a limited time")
    func strayStep() throws {
        var joined = JoinedSound()
        note(0, true, in: &joined)
        try add(400, to: &joined)
        try add(0, to: &joined)
        note(440, true, in: &joined)
        #expect(pieces(&joined).dues == [400, 0])
    }
}
