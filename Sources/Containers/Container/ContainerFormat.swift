import Bitstream
import CFFmpeg
import CamPlatform
import CamSound
import Glibc

/// A file format that stores each picture's time. The raw value is the file name's extension.
public enum ContainerFormat: String, Sendable, CaseIterable {
    /// Matroska: length-prefixed NAL units, times in milliseconds.
    case matroska = "mkv"
    /// Fragmented MP4 (ISO/IEC 14496-12): length-prefixed NAL units, times in 1/90000 s.
    case mp4
    /// An MPEG-2 transport stream (ITU-T H.222.0): Annex B, times in 1/90000 s.
    case transportStream = "ts"

    /// The format for a file name's extension, in upper or lower case; nil for any other name.
    public init?(path: String) {
        let file = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = file.lastIndex(of: ".") else { return nil }
        self.init(rawValue: file[file.index(after: dot)...].lowercased())
    }

    /// Whether it can contain sound that is coded in this way.
    public func takes(_ codec: SoundCodec) -> Bool { self != .transportStream || codec != .flac }

    /// libavformat's name for it.
    var muxerName: String {
        switch self {
        case .matroska: "matroska"
        case .mp4: "mp4"
        case .transportStream: "mpegts"
        }
    }

    /// libavformat's options for a file that appears only when it is complete; nil if the format does not
    /// benefit.
    var finishedOptions: [(name: String, value: String)]? {
        // The index precedes the pictures, so that a player on the network can start at once.
        self == .mp4 ? [("movflags", "faststart+\(Self.metadataFlag)")] : nil
    }

    /// libavformat's options for a fragmented MP4 that a browser receives piece by piece: the header precedes
    /// the first picture.
    static let browserOptions: [(name: String, value: String)] = [
        ("movflags", "empty_moov+frag_keyframe+default_base_moof"),
        ("frag_duration", "1000000"),
    ]

    /// libavformat's options for a file that can be played up to the last data written.
    /// - Parameter pieceDuration: the time after which a cluster or fragment ends; each is written to the
    ///   file as a whole.
    package func muxerOptions(pieceDuration: Duration) -> [(name: String, value: String)] {
        let microseconds = max(1, pieceDuration.inNanoseconds / 1000)
        switch self {
        case .matroska:
            // Milliseconds; earlier at a keyframe.
            return [("cluster_time_limit", "\((microseconds + 999) / 1000)")]
        case .mp4:
            // The same for a fragment, in microseconds. The movie header waits for the first one, because
            // only then is the delay of B pictures known.
            return [
                ("movflags", "frag_keyframe+delay_moov+default_base_moof+\(Self.metadataFlag)"),
                ("frag_duration", "\(microseconds)"),
            ]
        case .transportStream:
            // A receiver that joins at a keyframe finds the tables there. Concatenated files form one stream:
            // that their counters restart does not mean that packets are missing (ISO/IEC 13818-1, 2.4.3.5).
            return [("mpegts_flags", "pat_pmt_at_frames+initial_discontinuity")]
        }
    }

    /// Makes MP4 store any metadata: its own creation time counts whole seconds,
    /// and it has fields for few texts.
    private static let metadataFlag = "use_metadata_tags"

    /// The longest time between pictures that the format can store; a frame's duration replaces a longer one.
    var largestStep: Duration {
        switch self {
        case .matroska: PresentationClock.largestStepAhead
        // 31 bits for a picture's duration.
        case .mp4: .seconds(6 * 3600)
        // 33 bits for times, which then wrap: up to half of that can be distinguished from a step back.
        case .transportStream: .seconds(12 * 3600)
        }
    }

    /// Requested ticks per second; Matroska always uses milliseconds.
    static let ticksPerSecond: Int32 = 90_000
}

// MARK: - Raw streams

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

// MARK: - Metadata

/// Metadata about a recording, which Matroska and MP4 store.
public struct FileMetadata: Sendable, Equatable {
    /// When the first picture was captured, to the microsecond; nil if that is unknown.
    public var start: WallTime?
    /// The camera's name; nil if there was none.
    public var camera: String?
    /// The program that made the recording, with its version.
    public var program: String?

    /// The keys that libavformat uses and other programs display.
    private enum Name {
        static let start = "creation_time"
        static let camera = "model"
        static let program = "encoded_by"
        /// Matroska's header has a field of its own for the program.
        static let writer = "encoding_tool"
    }

    /// Longer texts are cut off: a file may contain any text.
    private static let longest = 200

    /// Creates metadata; by default without any.
    public init(start: WallTime? = nil, camera: String? = nil, program: String? = nil) {
        (self.start, self.camera, self.program) = (start, camera, program)
    }

    /// Reads a container's metadata.
    /// - Parameter value: returns the text for a key.
    init(_ value: (String) -> String?) {
        self.init(
            start: value(Name.start).flatMap(WallTime.init(iso8601:)), camera: Self.text(value(Name.camera)),
            program: Self.text(value(Name.program)))
    }

    /// The texts for a container, by name.
    package func entries(for format: ContainerFormat) -> [(name: String, value: String)] {
        let texts = [
            (Name.start, start?.iso8601), (Name.camera, Self.text(camera)), (Name.program, program),
            (Name.writer, format == .matroska ? program : nil),
        ]
        return texts.compactMap { name, text in text.map { (name, $0) } }
    }

    private static func text(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : String($0.prefix(longest)) }
    }
}

// MARK: - libavformat

/// libavformat, loaded when the first container is opened.
package enum ContainerLibrary {
    /// Why the library cannot be loaded.
    package struct Failure: Error {
        package let name: String
        package let reason: String

        /// Whether the library may be there, but no descriptor is free to open it.
        private var lacksDescriptor: Bool {
            [EMFILE, ENFILE].contains { reason.contains(String(cString: strerror($0))) }
        }

        /// The error of a file that was to be read with it.
        var ofInput: InputError.Kind {
            lacksDescriptor ? .notOpened(errno: EMFILE) : .noContainerLibrary(name: name, reason: reason)
        }

        /// The error of an output that was to be written with it.
        package var ofOutput: OutputError.Kind {
            lacksDescriptor ? .notCreated(errno: EMFILE) : .noContainerLibrary(name: name, reason: reason)
        }
    }

    /// Loads the library and returns its functions.
    package static func load() throws(Failure) -> cformat_library {
        var library = cformat_library()
        var reason = [CChar](repeating: 0, count: 256)
        guard cformat_load(&library, &reason, reason.count) else {
            let text = String(
                decoding: reason.prefix { $0 != 0 }.map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
            throw Failure(name: String(cString: cformat_library_name), reason: text)
        }
        return library
    }

    /// The Debian or Ubuntu package that contains a library: `libavformat59` contains `libavformat.so.59`.
    static func package(of name: String) -> String {
        let parts = name.split(separator: ".")
        guard parts.count == 3 else { return name }
        return "\(parts[0])\(parts[2])"
    }
}
