import Bitstream
import CamPlatform
import CamNetworking
import CamStorage
import Containers

/// The requested output: where it goes, its form and its codec.
package struct OutputChoice: Sendable {
    /// How a stream is written.
    package enum Form: Sendable {
        /// An Annex B byte stream.
        case annexB
        case container(ContainerFormat)
        /// The pictures' timestamps only.
        case timestamps
        /// A stream to receivers, without a file.
        case live(Live)
    }

    /// How receivers get the stream.
    package enum Live: Sendable {
        case listening(ListeningAddress)
        case connecting(SocketAddress)
        case publishing(RTSPAddress)
        case sending(StreamURL)
    }

    /// The URL scheme of outputs that connect to their receiver.
    package static let scheme = "tcp"

    /// A file, a named pipe, `-`, or an address.
    package private(set) var path: String
    package let form: Form
    package let codec: Codec
    /// The folder that must already exist; missing folders below it, named by a date, are created. Nil
    /// without a date.
    package private(set) var datedBelow: String?
    /// The container that a live output sends; nil for a raw stream.
    package private(set) var container: ContainerFormat?
    /// Where each segment's timestamps go; nil if nowhere, or to an output of their own.
    package var timestamps: String?

    /// Parses an OUTPUT argument.
    /// - Parameters:
    ///   - codec: nil for the codec that the name suggests, or H.264.
    ///   - container: the container for standard output and receivers, whose names suggest none; nil for a
    ///     raw stream.
    package init(path: String, codec: Codec?, container: ContainerFormat? = nil) {
        // Opening this name could reopen the file that the shell redirects to.
        let path = path == "/dev/stdout" ? FileSink.standardOutput : path
        if let live = Live(url: path) {
            (self.path, form, self.codec) = (live.name, .live(live), codec ?? .h264)
            if case .connecting = live { self.container = container }
            return
        }
        self.path = path
        let named = path == FileSink.standardOutput ? container : ContainerFormat(path: path)
        form = named.map(Form.container) ?? .annexB
        self.codec = codec ?? Codec(fileName: path) ?? .h264
    }

    /// A port that receivers connect to.
    package init(listeningOn address: ListeningAddress, codec: Codec?, container: ContainerFormat? = nil) {
        path = "\(address)"
        self.container = container
        (form, self.codec) = (.live(.listening(address)), codec ?? .h264)
    }

    /// The timestamps of another output's pictures.
    package init(timestamps path: String, of other: OutputChoice) {
        self.path = path
        (form, codec) = (.timestamps, other.codec)
    }

    /// Whether its name contains a date: a `%` in the name of a file that is neither a pipe nor a device.
    package var isPattern: Bool { isFile && path.contains("%") }

    /// Returns this output with the date filled into its name, for an output that is a single file.
    package func dated(at time: WallTime, isUTC: Bool) -> OutputChoice {
        guard isPattern else { return self }
        var choice = self
        let names = FileNamePattern(path, expandsTime: true, isUTC: isUTC)
        (choice.path, choice.datedBelow) = (names.name(at: time), names.folder)
        return choice
    }

    /// Whether the output can be split into several files, unlike receivers, pipes and devices.
    package var isFile: Bool {
        if case .live = form { return false }
        return path != FileSink.standardOutput && FileIdentity.isFile(path) != false
    }

    /// The folder that contains a file on any date; nil for other outputs.
    package var standingFolder: String? {
        guard isFile else { return nil }
        if isPattern { return FileNamePattern(path, expandsTime: true, isUTC: false).folder }
        return datedBelow ?? Folder.of(path)
    }

    /// Whether it is a live output.
    package var isLive: Bool { if case .live = form { true } else { false } }

    /// Whether it is a raw stream in a file, or in a pipe or device.
    package var isRaw: Bool { if case .annexB = form { true } else { false } }

    /// Whether the output contains pictures, rather than only their timestamps.
    package var hasPictures: Bool { if case .timestamps = form { false } else { true } }

    /// Whether the output can contain sound, or the timestamps of sound.
    package var takesSound: Bool {
        switch form {
        case .container, .live(.publishing), .live(.sending): true
        case .live(.listening), .live(.connecting): container != nil
        case .timestamps: true
        case .annexB: false
        }
    }

    /// Whether it can contain FLAC: transport streams and RTP have no place for it.
    package var takesFLAC: Bool {
        switch form {
        case .container(let format): format.takes(.flac)
        case .timestamps: true
        case .live(.listening), .live(.connecting): container == .matroska
        case .annexB, .live: false
        }
    }

    /// Whether it connects to its receiver.
    package var isConnecting: Bool {
        switch form {
        case .live(.connecting), .live(.publishing), .live(.sending): true
        default: false
        }
    }

    /// Whether libavformat sends it.
    package var isSending: Bool { if case .live(.sending) = form { true } else { false } }
}

extension OutputChoice.Live {
    /// Reads the URL of an output that connects to its receiver; nil for anything else.
    package init?(url: String) {
        if let address = try? RTSPAddress(url) {
            self = .publishing(address)
        } else if let url = try? StreamURL(url) {
            self = .sending(url)
        } else if let address = SocketAddress(url: url, scheme: OutputChoice.scheme), address.port != 0 {
            self = .connecting(address)
        } else {
            return nil
        }
    }

    /// Its name in messages, without any password.
    package var name: String {
        switch self {
        case .listening(let address): "\(address)"
        case .connecting(let address): "\(OutputChoice.scheme)://\(address)"
        case .publishing(let address): "\(address)"
        case .sending(let url): "\(url)"
        }
    }
}
