import Bitstream
import Encoder
import Network
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
        /// The byte stream of Annex B, to receivers.
        case live(Live)

        /// The name in the report.
        var name: String {
            switch self {
            case .annexB: "annexb"
            case .container(let format): format.rawValue
            case .timestamps: "timestamps"
            case .live: "live"
            }
        }
    }

    /// How receivers get the stream.
    enum Live {
        case listening(SocketAddress)
        case connecting(SocketAddress)
    }

    /// The scheme of outputs that connect out.
    static let scheme = "tcp"

    /// A file, a named pipe, `-`, or an address.
    let path: String
    let form: Form
    let codec: Codec
    /// The name says another codec than the one that was asked for.
    let isMisnamed: Bool
    /// Where the times of each of its segments go; nil for nowhere, or for an output of its own.
    var timestamps: String?

    /// - Parameter codec: nil for what the name says; H.264 where it says nothing.
    init(path: String, codec: Codec?) {
        self.path = path
        if let address = SocketAddress(url: path, scheme: Self.scheme) {
            (form, self.codec, isMisnamed) = (.live(.connecting(address)), codec ?? .h264, false)
            return
        }
        form = ContainerFormat(path: path).map(Form.container) ?? .annexB
        let named = Codec(fileName: path)
        let chosen = codec ?? named ?? .h264
        self.codec = chosen
        isMisnamed = named.map { $0 != chosen } ?? false
    }

    /// A port that receivers connect to.
    init(listeningOn address: SocketAddress, codec: Codec?) {
        path = "\(address)"
        (form, self.codec, isMisnamed) = (.live(.listening(address)), codec ?? .h264, false)
    }

    /// The times of another output's pictures.
    init(timestamps path: String, of other: OutputChoice) {
        self.path = path
        (form, codec, isMisnamed) = (.timestamps, other.codec, false)
    }

    /// Opens it for an encoder's stream.
    func open(
        _ supply: EncoderSupply, files: FileOutput, live: LiveOutput
    ) throws(OutputError) -> any PacketSink {
        switch form {
        case .live(let form): try live.open(form, supply)
        case .annexB, .container, .timestamps: try files.open(self, StreamDescription(supply))
        }
    }

    /// Whether it may be spread over several files: not so receivers, pipes and devices.
    var isFile: Bool {
        if case .live = form { return false }
        return path != FileSink.standardOutput && FileIdentity.isFile(path) != false
    }

    /// The extension of a container that camrec does not write; a raw stream under such a name would be taken
    /// for a damaged file.
    static func foreignContainer(_ path: String) -> String? {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        let name = path[dot...].lowercased()
        return [
            ".avi", ".mov", ".webm", ".m4v", ".flv", ".wmv", ".mpg", ".mpeg", ".m2ts", ".mts", ".ogv", ".3gp",
        ]
        .first { $0 == name }
    }
}
