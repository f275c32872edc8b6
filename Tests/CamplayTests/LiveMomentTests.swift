import CamSound
import Testing
import CamPlatform

@testable import camplay

/// When pictures of a live stream with sound are shown.
@Suite struct LiveMomentTests {
    private let sound: LiveSound
    private let start = Instant.now

    init() throws {
        sound = LiveSound(with: try Presentation(cancellation: try #require(CancellationFlag())))
        sound.begin(
            SoundDescription(
                codec: .opus, format: SoundFormat(rate: 48_000, channels: 2), configuration: [],
                packetFrames: 960))
    }

    /// Plays sound, as far as this class knows.
    private func hear() { _ = sound.moment(of: .zero) }

    @Test("pictures do not wait for sound that nobody hears")
    func unheard() {
        sound.notePicture(at: .zero, arrival: start)
        #expect(sound.moment(ofPictureFrom: start) == nil)
    }

    @Test("pictures are due when sound of their time is")
    func together() throws {
        sound.notePicture(at: .zero, arrival: start)
        hear()
        // It comes 30 ms later than the quickest did.
        let arrival = start + .milliseconds(63)
        sound.notePicture(at: .milliseconds(33), arrival: arrival)
        let moment = try #require(sound.moment(ofPictureFrom: arrival))
        #expect(moment == sound.moment(of: .milliseconds(33)))
        #expect(moment == start + .milliseconds(33) + SoundDelay.usual)
        #expect(sound.moment(ofPictureFrom: start) == nil)
    }

    @Test("another stream's pictures wait for its own sound")
    func another() {
        sound.notePicture(at: .zero, arrival: start)
        hear()
        sound.begin(
            SoundDescription(
                codec: .opus, format: SoundFormat(rate: 48_000, channels: 2), configuration: [],
                packetFrames: 960))
        sound.notePicture(at: .zero, arrival: start)
        #expect(sound.moment(ofPictureFrom: start) == nil)
    }

    @Test("pictures of a stream without sound do not wait, whatever came before")
    func silent() {
        sound.notePicture(at: .zero, arrival: start)
        hear()
        sound.end()
        sound.notePicture(at: .zero, arrival: start)
        #expect(sound.moment(ofPictureFrom: start) == nil)
    }

    @Test("pictures do not wait for sound that cannot be decoded")
    func undecodable() throws {
        sound.notePicture(at: .zero, arrival: start)
        sound.add(
            try #require(SoundPacket([0], timestamp: .start, duration: .milliseconds(20))), arrival: start)
        while sound.next(isOver: { false }) != nil {}
        sound.notePicture(at: .milliseconds(33), arrival: start + .milliseconds(33))
        #expect(sound.moment(ofPictureFrom: start + .milliseconds(33)) == nil)
    }
}
