import Bitstream
import CamNetworking
import CamPlatform
import CamSound

/// A stream's description for an RTSP server, in SDP (RFC 8866).
struct SessionDescription: Sendable, Equatable {
    /// The names of the streams in it, which requests for them append to the URL.
    let controls: [String]

    /// The lines.
    let text: String

    /// Nil if the keyframe lacks parameter sets.
    /// - Parameters:
    ///   - keyframe: an access unit with parameter sets.
    ///   - sound: the sound sent with the pictures; nil for none.
    init?(keyframe: AccessUnit, sound: SoundDescription? = nil) {
        guard let format = Self.format(keyframe) else { return nil }
        let type = RTPPacketizer.payloadType
        var lines = [
            // No address: the server knows where the connection comes from.
            "v=0", "o=- 0 0 IN IP4 0.0.0.0", "s=camrec", "c=IN IP4 0.0.0.0", "t=0 0",
            "m=video 0 RTP/AVP \(type)",
            "a=rtpmap:\(type) \(keyframe.codec == .h264 ? "H264" : "H265")/90000",
            "a=fmtp:\(type) \(format)", "a=control:streamid=0",
        ]
        if let sound { lines += Self.lines(sound) + ["a=control:streamid=1"] }
        controls = sound == nil ? ["streamid=0"] : ["streamid=0", "streamid=1"]
        text = (lines + [""]).joined(separator: "\r\n")
    }

    /// RFC 3640, 4.1 and 3.3.6; RFC 7587, 7.
    private static func lines(_ sound: SoundDescription) -> [String] {
        let type = SoundPacketizer.payloadType
        let format = sound.format
        let media = "m=audio 0 RTP/AVP \(type)"
        switch sound.codec {
        case .aac, .flac:
            let configuration = sound.configuration.map { hexadecimal($0) }.joined()
            return [
                media, "a=rtpmap:\(type) MPEG4-GENERIC/\(format.rate)/\(format.channels)",
                "a=fmtp:\(type) streamtype=5; profile-level-id=1; mode=AAC-hbr; sizelength=13; indexlength=3; "
                    + "indexdeltalength=3; config=\(configuration)",
            ]
        case .opus:
            // The map always states two channels (RFC 7587, 7).
            return [
                media, "a=rtpmap:\(type) opus/48000/2",
                "a=fmtp:\(type) sprop-stereo=\(format.channels == 2 ? 1 : 0)",
            ]
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0\(digits)" : digits
    }

    /// RFC 6184, 8.2.1; RFC 7798, 7.2.1.
    private static func format(_ keyframe: AccessUnit) -> String? {
        switch keyframe.codec {
        case .h264:
            let sequence = units(7, of: keyframe)
            let picture = units(8, of: keyframe)
            guard let first = sequence.first, first.count > 4, !picture.isEmpty else { return nil }
            let profile = first[1...3].map(hexadecimal)
            return "packetization-mode=1; sprop-parameter-sets=\(list(sequence + picture)); "
                + "profile-level-id=\(profile.joined())"
        case .hevc:
            let (video, sequence, picture) = (
                units(32, of: keyframe), units(33, of: keyframe), units(34, of: keyframe)
            )
            guard !video.isEmpty, !sequence.isEmpty, !picture.isEmpty else { return nil }
            return "sprop-vps=\(list(video)); sprop-sps=\(list(sequence)); sprop-pps=\(list(picture))"
        }
    }

    private static func units(_ type: Int, of keyframe: AccessUnit) -> [[UInt8]] {
        keyframe.withUnsafeBytes { content in
            keyframe.units.filter { $0.header.nal_unit_type == type }.map { Array(content[$0.bytes]) }
        }
    }

    private static func list(_ units: [[UInt8]]) -> String { units.map(\.base64).joined(separator: ",") }
}

// MARK: - Announcing it

/// Hands the latest description of a stream from its writer to the thread that announces it.
final class StreamAnnouncement: @unchecked Sendable {
    // Safe to share: the description is accessed with the monitor's lock held, the parameter sets by one thread.
    private let monitor = Monitor()
    private let wakeUp: EventFD
    private var description: SessionDescription?
    /// The parameter sets of `description`. Used by the writer.
    private var parameterSets: [UInt8] = []
    private let sound: SoundDescription?

    /// - Parameter sound: the sound sent with the pictures; nil for none.
    init(sound: SoundDescription? = nil) throws(NetworkError) {
        wakeUp = try EventFD()
        self.sound = sound
    }

    /// Notes a keyframe's parameter sets, which rarely change.
    func note(_ keyframe: AccessUnit) {
        let end = keyframe.units.prefix { $0.header.isParameterSet }.last?.bytes.upperBound ?? 0
        let isKnown = keyframe.withUnsafeBytes { $0[..<end].elementsEqual(parameterSets) }
        guard !isKnown, let latest = SessionDescription(keyframe: keyframe, sound: sound) else { return }
        parameterSets = keyframe.withUnsafeBytes { Array($0[..<end]) }
        monitor.withLock { description = latest }
        wakeUp.wake()
    }

    /// Waits for the first description.
    /// - Returns: the latest; nil if the cancellation was raised.
    func wait(unless cancellation: CancellationFlag) -> SessionDescription? {
        // Never cleared: there is always a description after the first.
        _ = cancellation.wait(for: wakeUp.descriptor)
        return monitor.withLock { description }
    }
}
