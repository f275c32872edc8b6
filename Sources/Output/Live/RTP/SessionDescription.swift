import Bitstream
import Network

/// A stream's description for an RTSP server, in SDP (RFC 8866).
struct SessionDescription: Sendable, Equatable {
    /// The name of the stream in it, which a request for the stream appends to the URL.
    static let control = "streamid=0"

    /// The lines.
    let text: String

    /// - Parameter keyframe: an access unit with parameter sets; nil if it has not all of them.
    init?(keyframe: AccessUnit) {
        guard let format = Self.format(keyframe) else { return nil }
        let type = RTPPacketizer.payloadType
        let lines = [
            // No address: the server knows where the connection comes from.
            "v=0", "o=- 0 0 IN IP4 0.0.0.0", "s=camrec", "c=IN IP4 0.0.0.0", "t=0 0",
            "m=video 0 RTP/AVP \(type)",
            "a=rtpmap:\(type) \(keyframe.codec == .h264 ? "H264" : "H265")/90000",
            "a=fmtp:\(type) \(format)", "a=control:\(Self.control)", "",
        ]
        text = lines.joined(separator: "\r\n")
    }

    /// RFC 6184, 8.2.1; RFC 7798, 7.2.1.
    private static func format(_ keyframe: AccessUnit) -> String? {
        switch keyframe.codec {
        case .h264:
            let sequence = units(7, of: keyframe)
            let picture = units(8, of: keyframe)
            guard let first = sequence.first, first.count > 4, !picture.isEmpty else { return nil }
            let profile = first[1...3].map { byte in
                let digits = String(byte, radix: 16, uppercase: true)
                return digits.count == 1 ? "0\(digits)" : digits
            }
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
