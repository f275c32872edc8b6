import CSDL2
import CamSound
import CamPlatform

/// A loudspeaker, as SDL knows it: plays what is in its queue, on a thread of SDL's. Used by one thread.
final class Speaker {
    private let sdl: SDL
    private let device: SDL_AudioDeviceID
    /// How it plays.
    let format = SoundFormat(rate: 48_000, channels: 2)
    /// From the queue to the air, approximately: SDL hands pieces to a device that has room for two.
    let delay: Duration
    private var isPlaying = false

    /// Frames that SDL takes at once: 11 ms.
    private static let pieceLength: UInt16 = 512

    /// Opens the default one.
    init(_ sdl: SDL) throws(PlayError) {
        guard sdl.call.InitSubSystem(csdl2_init_audio) == 0 else {
            throw .noSpeaker(reason: "SDL: \(sdl.lastError)")
        }
        var wanted = SDL_AudioSpec()
        wanted.freq = Int32(format.rate)
        wanted.format = csdl2_samples
        wanted.channels = UInt8(format.channels)
        wanted.samples = Self.pieceLength
        var opened = SDL_AudioSpec()
        let device = sdl.call.OpenAudioDevice(nil, 0, &wanted, &opened, 0)
        guard device > 0 else {
            let reason = sdl.lastError
            sdl.call.QuitSubSystem(csdl2_init_audio)
            throw .noSpeaker(reason: "SDL: \(reason)")
        }
        (self.sdl, self.device) = (sdl, device)
        delay = format.duration(of: 2 * Int(opened.samples))
    }

    deinit {
        sdl.call.CloseAudioDevice(device)
        sdl.call.QuitSubSystem(csdl2_init_audio)
    }

    /// How much waits in the queue.
    var queued: Duration { format.duration(of: Int(sdl.call.GetQueuedAudioSize(device)) / frameSize) }

    /// How long interleaved samples last.
    func duration(of samples: UnsafeBufferPointer<Int16>) -> Duration {
        format.duration(of: samples.count / format.channels)
    }

    /// Adds samples to the queue.
    func play(_ samples: UnsafeBufferPointer<Int16>) {
        // If there is no memory, the schedule notices that they are missing.
        _ = sdl.call.QueueAudio(device, samples.baseAddress, UInt32(clamping: samples.count * 2))
    }

    /// Plays or stops; what is in the queue waits.
    func setPlaying(_ plays: Bool) {
        guard plays != isPlaying else { return }
        sdl.call.PauseAudioDevice(device, plays ? 0 : 1)
        isPlaying = plays
    }

    /// Empties the queue.
    func clear() { sdl.call.ClearQueuedAudio(device) }

    private var frameSize: Int { 2 * format.channels }
}
