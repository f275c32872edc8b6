import Bitstream
import Files
import Network
import Output

/// What one output was asked to be: where it goes, in which form, and which codec it takes.
public struct OutputChoice: Sendable {
    /// How a stream is written.
    public enum Form: Sendable {
        /// The byte stream of Annex B.
        case annexB
        case container(ContainerFormat)
        /// The pictures' times alone.
        case timestamps
        /// The byte stream of Annex B, to receivers.
        case live(Live)

    }

    /// How receivers get the stream.
    public enum Live: Sendable {
        case listening(ListeningAddress)
        case connecting(SocketAddress)
    }

    /// The scheme of outputs that connect out.
    public static let scheme = "tcp"

    /// A file, a named pipe, `-`, or an address.
    public private(set) var path: String
    public let form: Form
    public let codec: Codec
    /// Whether the name stands for another codec than the one that was asked for.
    public let isMisnamed: Bool
    /// The folder that must exist already; missing folders below it, which a date named, are made. Nil without a date.
    public private(set) var datedBelow: String?
    /// Where the times of each of its segments go; nil if nowhere, or to an output of its own.
    public var timestamps: String?

    /// Reads an OUTPUT argument.
    /// - Parameter codec: nil for the codec that the name stands for, H.264 if it stands for none.
    public init(path: String, codec: Codec?) {
        // Opened by this name it could be the shell's file, which exists already.
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
    public init(listeningOn address: ListeningAddress, codec: Codec?) {
        path = "\(address)"
        (form, self.codec, isMisnamed) = (.live(.listening(address)), codec ?? .h264, false)
    }

    /// The times of another output's pictures.
    public init(timestamps path: String, of other: OutputChoice) {
        self.path = path
        (form, codec, isMisnamed) = (.timestamps, other.codec, false)
    }

    /// Whether its name contains a date: a `%` in the name of what is neither a pipe nor a device.
    public var isPattern: Bool { isFile && path.contains("%") }

    /// Returns the same output with the date filled into its name, for an output that is one file.
    /// - Parameter time: seconds since 1970.
    public func dated(at time: Int, isUTC: Bool) -> OutputChoice {
        guard isPattern else { return self }
        var choice = self
        let names = SegmentNames(path, expandsTime: true, isUTC: isUTC)
        (choice.path, choice.datedBelow) = (names.name(at: time), names.folder)
        return choice
    }

    /// Whether it can be spread over several files, unlike receivers, pipes and devices.
    public var isFile: Bool {
        if case .live = form { return false }
        return path != FileSink.standardOutput && FileIdentity.isFile(path) != false
    }

    /// Whether receivers take it.
    public var isLive: Bool { if case .live = form { true } else { false } }

    /// Whether it connects out to its receiver.
    public var isConnecting: Bool { if case .live(.connecting) = form { true } else { false } }
}
