import Bitstream

extension Codec {
    /// What the name of a raw stream's file says, in whatever case; nil if it says nothing.
    public init?(fileName path: String) {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].dropFirst().lowercased() {
        case "h264", "264", "avc": self = .h264
        case "h265", "265", "hevc": self = .hevc
        default: return nil
        }
    }
}
