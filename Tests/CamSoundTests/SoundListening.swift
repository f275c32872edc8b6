import CFFmpeg
import Testing
import CamPlatform

@testable import CamSound

/// What is heard of coded sound: packets as they come out of an encoder, and their samples.
final class SoundListening {
    private(set) var packets: [SoundPacket] = []
    /// The first channel, from -1 to 1.
    private(set) var samples: [Float] = []
    private(set) var start: Instant?
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let channels: Int

    init(_ description: SoundDescription) throws {
        let decoder = try #require(avcodec_find_decoder(description.codec.identifier))
        context = try #require(avcodec_alloc_context3(decoder))
        channels = description.format.channels
        context.pointee.sample_rate = Int32(description.format.rate)
        av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
        let size = description.configuration.count
        let extradata = try #require(av_mallocz(size + Int(AV_INPUT_BUFFER_PADDING_SIZE)))
        extradata.copyMemory(from: description.configuration, byteCount: size)
        context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
        context.pointee.extradata_size = Int32(size)
        try #require(avcodec_open2(context, decoder, nil) == 0)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// Takes a packet and decodes it.
    func hear(_ sound: SoundPacket) {
        if start == nil { start = sound.timestamp }
        packets.append(sound)
        var (packet, frame) = (av_packet_alloc(), av_frame_alloc())
        defer {
            av_packet_free(&packet)
            av_frame_free(&frame)
        }
        guard let packet, let frame, av_new_packet(packet, Int32(sound.count)) == 0 else { return }
        sound.withUnsafeBytes {
            packet.pointee.data.update(from: $0.bindMemory(to: UInt8.self).baseAddress!, count: $0.count)
        }
        guard avcodec_send_packet(context, packet) == 0 else { return }
        while avcodec_receive_frame(context, frame) == 0 { append(frame) }
    }

    private func append(_ frame: UnsafeMutablePointer<AVFrame>) {
        let count = Int(frame.pointee.nb_samples)
        switch AVSampleFormat(frame.pointee.format) {
        case AV_SAMPLE_FMT_S16:
            frame.pointee.extended_data[0]!.withMemoryRebound(to: Int16.self, capacity: count * channels) {
                samples in
                for index in 0..<count { self.samples.append(Float(samples[index * channels]) / 32768) }
            }
        default:
            frame.pointee.extended_data[0]!.withMemoryRebound(to: Float.self, capacity: count) { samples in
                self.samples += UnsafeBufferPointer(start: samples, count: count)
            }
        }
    }

    /// The sample that was captured at a time.
    func index(at time: Instant) -> Int { Int(((time - (start ?? time)).inSeconds * 48_000).rounded()) }

    /// When the sound first exceeds a level after a time; nil if it does not.
    func onset(after time: Instant, level: Float = 0.2) -> Instant? {
        guard let start else { return nil }
        let first = max(0, index(at: time))
        guard first < samples.count, let place = samples[first...].firstIndex(where: { abs($0) > level })
        else {
            return nil
        }
        return start + .nanoseconds(Int64(place) * 1_000_000_000 / 48_000)
    }
}

/// A sound card whose clock runs at a rate of its own, and whose times jitter.
struct SoundCard {
    /// Samples a second that it says, and that it has.
    let format: SoundFormat
    let rate: Double
    var jitter = Duration.zero
    /// The sound at a time, from -1 to 1.
    let sound: (Double) -> Double
    private var frame = 0
    private let start: Instant

    init(
        _ format: SoundFormat, rate: Double, start: Instant, jitter: Duration = .zero,
        sound: @escaping (Double) -> Double
    ) {
        (self.format, self.rate, self.start, self.jitter, self.sound) = (format, rate, start, jitter, sound)
    }

    /// When the samples so far end.
    var end: Instant { start + .nanoseconds(Int64(Double(frame) / rate * 1e9)) }

    /// Skips samples, as an overrun does.
    mutating func lose(_ frames: Int) { frame += frames }

    /// The next samples, and when they are said to have ended.
    mutating func read(
        _ frames: Int, using random: inout some RandomNumberGenerator
    ) -> (reading: SoundReading, samples: [Int16]) {
        var samples: [Int16] = []
        samples.reserveCapacity(frames * format.channels)
        for index in 0..<frames {
            let value = Int16((32_000 * sound((Double(frame + index)) / rate)).rounded())
            for _ in 0..<format.channels { samples.append(value) }
        }
        frame += frames
        let late = Duration.nanoseconds(Int64.random(in: 0...max(0, jitter.inNanoseconds), using: &random))
        return (SoundReading(frames: frames, end: end + late), samples)
    }
}
