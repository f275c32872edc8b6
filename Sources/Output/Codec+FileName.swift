import Bitstream

extension Codec {
    /// The codec that a raw stream's file name implies, in upper or lower case; nil if it implies none.
    public init?(fileName path: String) {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].dropFirst().lowercased() {
        case "h264", "264", "avc": self = .h264
        case "h265", "265", "hevc": self = .hevc
        default: return nil
        }
    }
}
