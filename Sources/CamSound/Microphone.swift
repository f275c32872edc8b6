import CSound
import CamPlatform
import Glibc

/// What a microphone can do.
public struct MicrophoneAbilities: Sendable, Hashable {
    /// Samples a second.
    public let rates: ClosedRange<Int>
    public let channels: ClosedRange<Int>
}

/// A microphone, read through ALSA.
public final class Microphone: SoundSource {
    public let name: String
    public let format: SoundFormat
    public private(set) var overruns = 0

    private let library: csound_library
    private let pcm: OpaquePointer
    /// The number of the device's channels; only the first two are used.
    private let deviceChannels: Int
    /// How many frames the driver holds at most.
    private let bufferFrames: Int
    private let encoding: SampleEncoding
    /// Samples in the device's encoding; empty if they need no conversion.
    private let raw: UnsafeMutableRawBufferPointer

    /// The plausible rates of devices and measurements.
    static let rates = 4_000...768_000

    /// How many frames are converted at once.
    private static let mostRawFrames = 9_600
    /// The time between reads in microseconds, about a packet of sound.
    private static let periodTime: UInt32 = 20_000
    /// Longer than an encoder takes to open, or a machine under load to read again; in microseconds.
    private static let bufferTime: UInt32 = 2_000_000
    /// The greatest plausible distance of a driver's timestamp from now.
    private static let credibleAge = Duration.seconds(2)

    /// Opens a microphone and starts recording. Samples not read within two seconds are lost.
    /// - Parameter name: the ALSA name, such as `default` or `plughw:CARD=C920,DEV=0`.
    public init(_ name: String) throws(SoundError) {
        let library = try Self.load(for: name)
        var pcm: OpaquePointer?
        // Without SND_PCM_NONBLOCK, opening a busy device would wait until it is free.
        try Self.check(
            library.pcm_open(&pcm, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK)), name, library)
        guard let pcm else { throw SoundError(.notFound, name) }
        (self.name, self.library, self.pcm) = (name, library, pcm)
        do throws(SoundError) {
            let setup = try Self.configure(pcm, name, library)
            (format, deviceChannels, bufferFrames) = (setup.format, setup.deviceChannels, setup.bufferFrames)
            encoding = setup.encoding
            try Self.check(library.pcm_start(pcm), name, library)
        } catch {
            _ = library.pcm_close(pcm)
            throw error
        }
        let rawFrames = encoding == .int16 ? 0 : min(bufferFrames, Self.mostRawFrames)
        raw = .allocate(byteCount: rawFrames * deviceChannels * encoding.sampleSize, alignment: 8)
    }

    deinit {
        _ = library.pcm_close(pcm)
        raw.deallocate()
    }

    public func read(
        into room: UnsafeMutableBufferPointer<Int16>, until deadline: Instant
    ) throws(SoundError) -> SoundReading? {
        let patience = max(.zero, deadline - .now).inMilliseconds
        let wake = library.pcm_wait(pcm, Int32(clamping: patience))
        if wake == 0 || wake == -EINTR { return nil }
        if wake < 0 { return try recover(from: wake) }
        var (available, time) = (snd_pcm_uframes_t(), timespec())
        let update = library.pcm_avail_update(pcm)
        if update < 0 { return try recover(from: Int32(clamping: update)) }
        let result = library.pcm_htimestamp(pcm, &available, &time)
        if result < 0 { return try recover(from: result) }
        let waiting = min(Int(clamping: available), bufferFrames)
        var count = min(waiting, room.count / deviceChannels)
        if encoding != .int16 { count = min(count, raw.count / (deviceChannels * encoding.sampleSize)) }
        let target = encoding == .int16 ? UnsafeMutableRawPointer(room.baseAddress) : raw.baseAddress
        guard count > 0, let target else { return nil }
        let frames = library.pcm_readi(pcm, target, snd_pcm_uframes_t(count))
        if frames == -Int(EAGAIN) { return nil }
        if frames < 0 { return try recover(from: Int32(clamping: frames)) }
        if encoding != .int16 {
            let samples = room[..<(min(frames, count) * deviceChannels)]
            encoding.convert(UnsafeRawBufferPointer(raw), into: UnsafeMutableBufferPointer(rebasing: samples))
        }
        keepFirstChannels(room, min(frames, count))
        // The timestamp belongs to the newest sample, which may still be unread.
        let unread = format.duration(of: max(0, waiting - frames))
        return SoundReading(frames: min(frames, count), end: credible(time) - unread)
    }

    /// Keeps the first channels and drops the others: the layout of an
    /// interface with many channels is unknown.
    private func keepFirstChannels(_ samples: UnsafeMutableBufferPointer<Int16>, _ frames: Int) {
        guard deviceChannels > format.channels else { return }
        for frame in 0..<frames {
            for channel in 0..<format.channels {
                samples[frame * format.channels + channel] = samples[frame * deviceChannels + channel]
            }
        }
    }

    /// Returns a microphone's rates and channels, without recording.
    /// - Throws: if it cannot be opened, for example because another program records from it.
    public static func abilities(of name: String) throws(SoundError) -> MicrophoneAbilities {
        let library = try load(for: name)
        var pcm: OpaquePointer?
        try check(
            library.pcm_open(&pcm, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK)), name, library)
        guard let pcm else { throw SoundError(.notFound, name) }
        defer { _ = library.pcm_close(pcm) }
        var hardware: OpaquePointer?
        try check(library.hw_params_malloc(&hardware), name, library)
        defer { library.hw_params_free(hardware) }
        try check(library.hw_params_any(pcm, hardware), name, library)
        var (least, most, fewest, all): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
        try check(library.hw_params_get_rate_min(hardware, &least, nil), name, library)
        try check(library.hw_params_get_rate_max(hardware, &most, nil), name, library)
        try check(library.hw_params_get_channels_min(hardware, &fewest), name, library)
        try check(library.hw_params_get_channels_max(hardware, &all), name, library)
        return MicrophoneAbilities(
            rates: Int(least)...Int(max(least, most)), channels: Int(fewest)...Int(max(fewest, all)))
    }

    private func credible(_ time: timespec) -> Instant {
        let claimed = Instant(
            nanoseconds: Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
                &+ Int64(time.tv_nsec))
        let now = Instant.now
        return (now - claimed).magnitude < Self.credibleAge ? claimed : now
    }

    /// Continues after an overrun or a suspended machine: the next timestamps show how much is missing.
    private func recover(from code: Int32) throws(SoundError) -> SoundReading? {
        switch -code {
        case EPIPE: overruns += 1
        case ESTRPIPE:
            let result = library.pcm_resume(pcm)
            if result == -EAGAIN || result == 0 { return nil }
        default: try check(code)
        }
        try check(library.pcm_prepare(pcm))
        try check(library.pcm_start(pcm))
        return nil
    }

    private func check(_ result: Int32) throws(SoundError) { try Self.check(result, name, library) }

    private static func check(_ result: Int32, _ name: String, _ library: csound_library) throws(SoundError) {
        guard result < 0 else { return }
        let reason = library.strerror(result).map { String(cString: $0) } ?? "error \(result)"
        throw SoundError(alsa: result, name, reason: reason)
    }

    private static func load(for name: String) throws(SoundError) -> csound_library {
        var library = csound_library()
        var reason = [CChar](repeating: 0, count: 256)
        guard csound_load(&library, &reason, reason.count) else {
            let text = reason.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
            throw SoundError(.noLibrary(reason: String(decoding: text, as: UTF8.self)), name)
        }
        return library
    }

    /// The parameters that a device has accepted.
    private struct Setup {
        let format: SoundFormat
        let deviceChannels: Int
        let bufferFrames: Int
        let encoding: SampleEncoding
    }

    /// Asks for 16 bits at `SoundCodec.rate`, in one or two channels, and accepts the nearest parameters.
    private static func configure(
        _ pcm: OpaquePointer, _ name: String, _ library: csound_library
    ) throws(SoundError) -> Setup {
        var hardware: OpaquePointer?
        try check(library.hw_params_malloc(&hardware), name, library)
        defer { library.hw_params_free(hardware) }
        try check(library.hw_params_any(pcm, hardware), name, library)
        // No resampling by ALSA: it is worse than ours, and would be done in addition.
        _ = library.hw_params_set_rate_resample(pcm, hardware, 0)
        try check(
            library.hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED), name, library)
        let encoding = try setEncoding(pcm, hardware, name, library)
        var (rate, channels) = (UInt32(SoundCodec.rate), UInt32(2))
        try check(library.hw_params_set_channels_near(pcm, hardware, &channels), name, library)
        try check(library.hw_params_set_rate_near(pcm, hardware, &rate, nil), name, library)
        var (period, buffer) = (periodTime, bufferTime)
        try check(library.hw_params_set_buffer_time_near(pcm, hardware, &buffer, nil), name, library)
        try check(library.hw_params_set_period_time_near(pcm, hardware, &period, nil), name, library)
        try check(library.hw_params(pcm, hardware), name, library)
        var (periodSize, bufferSize) = (snd_pcm_uframes_t(), snd_pcm_uframes_t())
        try check(library.hw_params_get_period_size(hardware, &periodSize, nil), name, library)
        try check(library.hw_params_get_buffer_size(hardware, &bufferSize), name, library)
        try stampTimes(pcm, everyFrames: periodSize, name, library)
        guard rates.contains(Int(rate)), (1...64).contains(channels) else {
            throw SoundError(.refused(reason: "\(rate) Hz in \(channels) channels"), name)
        }
        return Setup(
            format: SoundFormat(rate: Int(rate), channels: min(Int(channels), 2)),
            deviceChannels: Int(channels), bufferFrames: Int(clamping: bufferSize), encoding: encoding)
    }

    /// Chooses 16 bits, or else the encoding that loses least.
    private static func setEncoding(
        _ pcm: OpaquePointer, _ hardware: OpaquePointer?, _ name: String, _ library: csound_library
    ) throws(SoundError) -> SampleEncoding {
        for encoding in SampleEncoding.allCases
        where library.hw_params_set_format(pcm, hardware, encoding.format) >= 0 {
            return encoding
        }
        throw SoundError(
            .refused(reason: "its samples are neither of 16, 24 or 32 bits nor floating point"), name)
    }

    /// Makes the device stamp its newest sample on the monotonic clock, as cameras stamp pictures.
    private static func stampTimes(
        _ pcm: OpaquePointer, everyFrames count: snd_pcm_uframes_t, _ name: String, _ library: csound_library
    ) throws(SoundError) {
        var software: OpaquePointer?
        try check(library.sw_params_malloc(&software), name, library)
        defer { library.sw_params_free(software) }
        try check(library.sw_params_current(pcm, software), name, library)
        try check(library.sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE), name, library)
        try check(
            library.sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC), name, library)
        try check(library.sw_params_set_avail_min(pcm, software, count), name, library)
        try check(library.sw_params(pcm, software), name, library)
    }
}

// MARK: - Sample encodings

/// How a microphone writes its samples, in the order of preference.
enum SampleEncoding: CaseIterable {
    case int16
    case int32
    /// In three bytes, the lowest first.
    case int24Packed
    /// In the lower three of four bytes.
    case int24
    case float

    /// The ALSA constant.
    var format: snd_pcm_format_t {
        switch self {
        case .int16: SND_PCM_FORMAT_S16
        case .int32: SND_PCM_FORMAT_S32
        case .int24Packed: SND_PCM_FORMAT_S24_3LE
        case .int24: SND_PCM_FORMAT_S24
        case .float: SND_PCM_FORMAT_FLOAT
        }
    }

    /// In bytes.
    var sampleSize: Int {
        switch self {
        case .int16: 2
        case .int24Packed: 3
        case .int32, .int24, .float: 4
        }
    }

    /// Converts samples until `samples` is full.
    /// - Parameter bytes: at least as many samples, suitably aligned.
    func convert(_ bytes: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>) {
        for index in samples.indices { samples[index] = sample(at: index * sampleSize, of: bytes) }
    }

    private func sample(at offset: Int, of bytes: UnsafeRawBufferPointer) -> Int16 {
        switch self {
        case .int16: bytes.load(fromByteOffset: offset, as: Int16.self)
        case .int32: Self.rounded(bytes.load(fromByteOffset: offset, as: Int32.self))
        case .int24Packed:
            Self.rounded(
                Int32(bytes[offset]) << 8 | Int32(bytes[offset + 1]) << 16
                    | Int32(Int8(bitPattern: bytes[offset + 2])) << 24)
        // The highest byte is undefined.
        case .int24: Self.rounded(bytes.load(fromByteOffset: offset, as: Int32.self) << 8)
        case .float: Self.rounded(bytes.load(fromByteOffset: offset, as: Float.self))
        }
    }

    private static func rounded(_ sample: Int32) -> Int16 { Int16(clamping: (Int(sample) + 0x8000) >> 16) }

    /// NaN becomes silence.
    private static func rounded(_ sample: Float) -> Int16 {
        sample.isNaN ? 0 : Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
    }
}
