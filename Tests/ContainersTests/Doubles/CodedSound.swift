import CFFmpeg
import TestSupport
import Testing
import CamPlatform

@testable import CamSound

/// Noise, coded.
struct CodedSound {
    let description: SoundDescription
    private(set) var packets: [SoundPacket] = []

    /// - Parameter start: when the first sample was captured.
    init(_ codec: SoundCodec, channels: Int = 2, start: Instant = .start, seconds: Int = 2) throws {
        let encoder = try SoundEncoder(codec, channels: channels)
        description = encoder.description
        var generator = SeededGenerator(seed: 5)
        var packets: [SoundPacket] = []
        while encoder.count < seconds * SoundCodec.rate {
            _ = try encoder.fill(
                start: start,
                { planes, room in
                    let count = planes[1] == nil ? room * channels : room
                    for index in 0..<8 {
                        guard let plane = planes[index] else { continue }
                        Self.fill(plane, count, isFloat: codec != .flac, &generator)
                    }
                    return room
                }, { packets.append($0) })
        }
        self.packets = packets
    }

    private static func fill(
        _ plane: UnsafeMutablePointer<UInt8>, _ count: Int, isFloat: Bool, _ generator: inout SeededGenerator
    ) {
        let bytes = UnsafeMutableRawPointer(plane)
        for index in 0..<count {
            let sample = Int16.random(in: -8000...8000, using: &generator)
            if isFloat {
                bytes.storeBytes(of: Float(sample) / 32_768, toByteOffset: 4 * index, as: Float.self)
            } else {
                bytes.storeBytes(of: sample, toByteOffset: 2 * index, as: Int16.self)
            }
        }
    }
}

extension SoundPacket {
    var allBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
