import Bitstream
import Output
import Threading

/// What one OUTPUT argument, or `--timestamps`, means: where, in which form, and by which standard.
struct OutputChoice {
    /// How a stream is written.
    enum Form {
        /// The byte stream of Annex B.
        case annexB
        case container(ContainerFormat)
        /// The pictures' times alone.
        case timestamps

        /// The name in the report.
        var name: String {
            switch self {
            case .annexB: "annexb"
            case .container(let format): format.rawValue
            case .timestamps: "timestamps"
            }
        }
    }

    /// A file, a named pipe, or `-`.
    let path: String
    let form: Form
    let codec: Codec
    /// The name says another codec than the one that was asked for.
    let isMisnamed: Bool

    /// - Parameter codec: nil for what the name says; H.264 where it says nothing.
    init(path: String, codec: Codec?) {
        self.path = path
        form = ContainerFormat(path: path).map(Form.container) ?? .annexB
        let named = Self.codec(named: path)
        let chosen = codec ?? named ?? .h264
        self.codec = chosen
        isMisnamed = named.map { $0 != chosen } ?? false
    }

    /// The times of another output's pictures.
    init(timestamps path: String, of other: OutputChoice) {
        self.path = path
        (form, codec, isMisnamed) = (.timestamps, other.codec, false)
    }

    /// Opens it for a stream.
    func open(
        _ stream: StreamDescription, overwrite: Bool, interruption: Interruption
    ) throws(OutputError) -> any PacketSink {
        switch form {
        case .annexB:
            try FileSink(path: path, overwrite: overwrite, interruption: interruption)
        case .container(let format):
            try ContainerSink(
                path: path, format: format, overwrite: overwrite, stream: stream, interruption: interruption)
        case .timestamps:
            try TimestampFileSink(
                path: path, overwrite: overwrite, stream: stream, interruption: interruption)
        }
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
