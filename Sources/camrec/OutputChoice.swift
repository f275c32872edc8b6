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
        case listening(ListeningAddress)
        case connecting(SocketAddress)
    }

    /// The scheme of outputs that connect out.
    static let scheme = "tcp"

    /// A file, a named pipe, `-`, or an address.
    private(set) var path: String
    let form: Form
    let codec: Codec
    /// The name says another codec than the one that was asked for.
    let isMisnamed: Bool
    /// What stands ahead of the folders that a date made, which are made where they are missing; nil without a date.
    private(set) var datedBelow: String?
    /// Where the times of each of its segments go; nil for nowhere, or for an output of its own.
    var timestamps: String?

    /// - Parameter codec: nil for what the name says; H.264 where it says nothing.
    init(path: String, codec: Codec?) {
        // Under its other name it may be a file of the shell's, which is there already.
        let path = path == "/dev/stdout" ? FileSink.standardOutput : path
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
    init(listeningOn address: ListeningAddress, codec: Codec?) {
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
        _ provider: BackendEncoderProvider, files: FileOutput, live: LiveOutput
    ) throws(OutputError) -> any AccessUnitSink {
        switch form {
        case .live(let form): try live.open(form, provider)
        case .annexB, .container, .timestamps: try files.open(self, StreamDescription(provider))
        }
    }

    /// Whether its name has a date in it: `%` in the name of what is no pipe and no device.
    var isPattern: Bool { isFile && path.contains("%") }

    /// The same with the date in its name, for an output that is one file.
    /// - Parameter time: seconds since 1970.
    func dated(at time: Int, isUTC: Bool) -> OutputChoice {
        guard isPattern else { return self }
        var choice = self
        let names = SegmentNames(path, expandsTime: true, isUTC: isUTC)
        (choice.path, choice.datedBelow) = (names.name(at: time), names.folder)
        return choice
    }

    /// Whether it may be spread over several files: not so receivers, pipes and devices.
    var isFile: Bool {
        if case .live = form { return false }
        return path != FileSink.standardOutput && FileIdentity.isFile(path) != false
    }
}
