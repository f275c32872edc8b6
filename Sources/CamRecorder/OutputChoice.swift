import Bitstream
import CamPictures
import CamPlatform
import CamNetworking
import CamStorage
import Containers

/// The requested rendition of the pictures: outputs with equal ones share an encoder.
package struct RenditionChoice: Sendable, Hashable {
    package var codec: Codec
    /// The pictures' size; nil: that of the treated source.
    package var size: PictureSize?
    /// Pictures a second, if the source has more; nil: all.
    package var frameRate: FrameRate?
    /// Bits a second; nil: as the recording's options say.
    package var bitRate: Int?
    package var maximumBitRate: Int?
    /// Constant quality, 1 … 51; nil: as the recording's options say.
    package var quality: Int?
    package var keyframeInterval: KeyframeInterval?

    package init(codec: Codec = .h264) { self.codec = codec }

    /// Whether its pictures differ from those of the recording: rates for those do not suit them.
    package var hasOwnPictures: Bool { size != nil || frameRate != nil }

    /// Whether it has rates of its own, or pictures that need others.
    package var hasOwnRates: Bool {
        hasOwnPictures || bitRate != nil || maximumBitRate != nil || quality != nil
    }
}

/// The requested output: where it goes, its form and its rendition.
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
    package let rendition: RenditionChoice
    package var codec: Codec { rendition.codec }
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
    ///   - rendition: what else is requested for it.
    package init(
        path: String, codec: Codec?, container: ContainerFormat? = nil,
        rendition: RenditionChoice = RenditionChoice()
    ) {
        var rendition = rendition
        rendition.codec = codec ?? .h264
        // Opening this name could reopen the file that the shell redirects to.
        let path = path == "/dev/stdout" ? FileSink.standardOutput : path
        if let live = Live(url: path) {
            (self.path, form, self.rendition) = (live.name, .live(live), rendition)
            if case .connecting = live { self.container = container }
            return
        }
        self.path = path
        let named = path == FileSink.standardOutput ? container : ContainerFormat(path: path)
        form = named.map(Form.container) ?? .annexB
        rendition.codec = codec ?? Codec(fileName: path) ?? .h264
        self.rendition = rendition
    }

    /// A port that receivers connect to.
    package init(
        listeningOn address: ListeningAddress, codec: Codec?, container: ContainerFormat? = nil,
        rendition: RenditionChoice = RenditionChoice()
    ) {
        var rendition = rendition
        rendition.codec = codec ?? .h264
        path = "\(address)"
        self.container = container
        (form, self.rendition) = (.live(.listening(address)), rendition)
    }

    /// The timestamps of another output's pictures.
    package init(timestamps path: String, of other: OutputChoice) {
        self.path = path
        (form, rendition) = (.timestamps, other.rendition)
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
