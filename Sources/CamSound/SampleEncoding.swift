import CSound

/// How a microphone writes its samples, in the order of preference.
enum SampleEncoding: CaseIterable {
    case int16
    case int32
    /// In three bytes, the lowest first.
    case int24Packed
    /// In the lower three of four bytes.
    case int24
    case float

    /// ALSA's name of it.
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

    /// Converts as many samples as there is room for.
    /// - Parameter bytes: at least as many samples, aligned for them.
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
        // The highest byte means nothing.
        case .int24: Self.rounded(bytes.load(fromByteOffset: offset, as: Int32.self) << 8)
        case .float: Self.rounded(bytes.load(fromByteOffset: offset, as: Float.self))
        }
    }

    private static func rounded(_ sample: Int32) -> Int16 { Int16(clamping: (Int(sample) + 0x8000) >> 16) }

    /// Nothing is heard of what is not a number.
    private static func rounded(_ sample: Float) -> Int16 {
        sample.isNaN ? 0 : Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
    }
}
