import CFFmpeg
import CSound

/// Converts samples to the format of an encoder or a loudspeaker, and compensates the drift of a clock
/// (libswresample). Used by one thread.
final class SoundResampler {
    private let context: OpaquePointer
    /// The samples that it takes.
    let input: SoundFormat
    /// The sample format of the input.
    let inputSamples: AVSampleFormat
    private let outputRate: Int

    /// The seconds over which a change of speed applies: the longer, the finer the steps.
    private static let seconds = 8
    /// The largest change of speed in addition to the drift: a twentieth of a semitone, which is inaudible.
    private static let largestChange = 0.003

    /// - Parameters:
    ///   - inputSamples: the sample format of the input.
    ///   - format: the sample format of the output.
    init(
        _ input: SoundFormat, _ inputSamples: AVSampleFormat = AV_SAMPLE_FMT_S16, to output: SoundFormat,
        _ format: AVSampleFormat
    ) throws(SoundError) {
        (self.input, self.inputSamples) = (input, inputSamples)
        outputRate = output.rate
        var (inLayout, outLayout) = (AVChannelLayout(), AVChannelLayout())
        csound_set_layout(&inLayout, Int32(input.channels))
        csound_set_layout(&outLayout, Int32(output.channels))
        var context: OpaquePointer?
        let result = swr_alloc_set_opts2(
            &context, &outLayout, format, Int32(output.rate), &inLayout, inputSamples,
            Int32(input.rate), 0, nil)
        guard result == 0, let context else { throw Self.failure(result) }
        // Resample even between equal rates; without interpolation, changes of speed are rough.
        av_opt_set_int(UnsafeMutableRawPointer(context), "flags", Int64(SWR_FLAG_RESAMPLE), 0)
        av_opt_set_int(UnsafeMutableRawPointer(context), "linear_interp", 1, 0)
        // Between 256 phases interpolation is exact enough; 1024, the default, take 160 kB.
        av_opt_set_int(UnsafeMutableRawPointer(context), "phase_shift", 8, 0)
        let start = swr_init(context)
        guard start == 0 else {
            var owned: OpaquePointer? = context
            swr_free(&owned)
            throw Self.failure(start)
        }
        self.context = context
    }

    deinit {
        var owned: OpaquePointer? = context
        swr_free(&owned)
    }

    /// The frames of output that the resampler still holds.
    var delay: Int { Int(swr_get_delay(context, Int64(outputRate))) }

    /// Converts frames.
    /// - Parameters:
    ///   - samples: interleaved; nil to drain the frames that the resampler still holds.
    ///   - room: the most frames of output.
    /// - Returns: the frames written.
    func convert(
        _ samples: UnsafePointer<Int16>?, frames: Int, into planes: inout SoundEncoder.Planes, room: Int
    ) -> Int {
        var bytes = samples.map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) }
        var targets = (planes[0], planes[1], planes[2], planes[3], planes[4], planes[5], planes[6], planes[7])
        let written = withUnsafeMutablePointer(to: &targets) { targets in
            targets.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { targets in
                withUnsafeMutablePointer(to: &bytes) { bytes in
                    convert(samples == nil ? nil : bytes, frames: frames, into: targets, room: room)
                }
            }
        }
        return written
    }

    /// Converts samples of any format, planar or interleaved.
    func convert(
        _ planes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, frames: Int,
        into targets: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, room: Int
    ) -> Int {
        max(0, Int(csound_convert(context, targets, Int32(clamping: room), planes, Int32(clamping: frames))))
    }

    /// Makes the output longer by as many frames within the next second, or shorter if negative; a few at most.
    /// - Parameter drift: how much faster the microphone's clock is, times a million.
    func stretch(by frames: Double, drift: Double) {
        let limit = Double(outputRate) * (Self.largestChange + abs(drift) / 1e6)
        let delta = max(-limit, min(frames, limit)) * Double(Self.seconds)
        swr_set_compensation(context, Int32(delta.rounded()), Int32(outputRate * Self.seconds))
    }

    private static func failure(_ result: Int32) -> SoundError {
        SoundError(.encoderFailed(reason: "libswresample: error \(result)"), "sound")
    }
}
