import Bitstream
import Output

/// What one OUTPUT argument means: where, and by which standard.
struct OutputChoice {
    /// A file, a named pipe, or `-`.
    let path: String
    let codec: Codec
    /// The name says another codec than the one that was asked for.
    let isMisnamed: Bool

    /// - Parameter codec: nil for what the name says; H.264 where it says nothing.
    init(path: String, codec: Codec?) {
        self.path = path
        let named = Self.codec(named: path)
        let chosen = codec ?? named ?? .h264
        self.codec = chosen
        isMisnamed = named.map { $0 != chosen } ?? false
    }

    private static func codec(named path: String) -> Codec? {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        return switch path[dot...].dropFirst().lowercased() {
        case "h264", "264", "avc": .h264
        case "h265", "265", "hevc": .hevc
        default: nil
        }
    }
}
