import Bitstream
import Glibc
import CamNetworking
import CamRecorder
import Containers

/// The name in an OUTPUT argument: its meaning, and reasons to refuse it.
struct OutputName {
    let text: String

    init(_ text: String) { self.text = text }

    /// Whether it is the URL of an output that connects to its receiver.
    var isAddress: Bool { OutputChoice.Live(url: text) != nil }

    /// Whether it is a single word that could be meant as a command.
    var isBareWord: Bool {
        !text.isEmpty && !text.hasPrefix("-") && !text.contains { "./".contains($0) } && !isStream
    }

    /// Returns why it cannot be recorded to, or nil if it can.
    /// - Parameter codec: the codec given by `--codec`.
    func refusal(codec: Codec?) -> String? {
        if text.isEmpty { return "an OUTPUT is empty; name a file, such as out.mkv" }
        if let scheme { return refusal(ofScheme: scheme) }
        if let mistyped { return "the \(mistyped): output has no // after the colon; use \(mistyped)://…" }
        if let container = foreignContainer {
            return "camrec does not write \(container); use .mkv, .mp4, .ts or a raw .h264 or .h265"
        }
        // For a folder, the file system reports the error.
        if codec != nil || isStream || kind == S_IFDIR || Codec(fileName: text) != nil
            || ContainerFormat(path: text) != nil
        {
            return nil
        }
        if let mistake = OutputArgument.typingError(in: text) { return "'\(shown)': \(mistake)" }
        let what =
            fileExtension.map { "'\($0)' is not a video format that camrec knows" }
            ?? "the name does not say which video format"
        return
            "'\(shown)': \(what); use .h264, .h265, .mkv, .mp4 or .ts, or add --codec h264 for a raw stream"
    }

    /// Returns the codec that the name of a raw stream's file implies and the requested one, or nil if they agree.
    /// - Parameter codec: the codec given by `--codec`.
    func misnamed(for codec: Codec?) -> (named: Codec, requested: Codec)? {
        guard !isAddress, let codec, let named = Codec(fileName: text), named != codec else { return nil }
        return (named, codec)
    }

    /// The text for messages, without parts that may be a user, a password or a token.
    private var shown: String {
        let place = text.prefix { $0 != "?" }
        let query = place.endIndex < text.endIndex ? "?…" : ""
        guard let end = place.lastIndex(of: "@"), let start = place[..<end].firstIndex(of: ":") else {
            return place + query
        }
        return "\(place[...start])…\(place[end...])\(query)"
    }

    private func refusal(ofScheme scheme: String) -> String? {
        switch scheme {
        case OutputChoice.scheme:
            return isAddress ? nil : "'\(shown)' is not an address; use \(scheme)://HOST:PORT"
        case _ where RTSPAddress.schemes.contains(scheme):
            return refusal(
                ofScheme: scheme,
                "\(scheme)://[USER@]HOST[:PORT]/PATH, with %2F for / and %40 for @ in a password"
            ) { () throws(AddressFlaw) in _ = try RTSPAddress(text) }
        case "srt", "udp":
            return refusal(ofScheme: scheme, "\(scheme)://HOST:PORT[?OPTIONS]") { () throws(AddressFlaw) in
                _ = try StreamURL(text)
            }
        case "file":
            return "'\(shown)' is a URL; give the file's path alone"
        default:
            return
                "camrec does not support \(scheme); use rtsp://HOST/PATH or srt://HOST:PORT to publish on a "
                + "server, tcp://HOST:PORT to connect to a receiver, or --listen to let receivers connect"
        }
    }

    /// Nothing of the address is quoted, because it may contain a password.
    private func refusal(ofScheme scheme: String, _ usage: String, read: () throws(AddressFlaw) -> Void)
        -> String?
    {
        do throws(AddressFlaw) { try read() } catch {
            return "the \(scheme):// output is not a valid address: \(error); use \(usage)"
        }
        return nil
    }

    /// `rtsp` of `rtsp://host/path`, in lower case (RFC 3986, 3.1).
    private var scheme: String? {
        guard let end = text.firstRange(of: "://")?.lowerBound else { return nil }
        let scheme = text[..<end]
        guard scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return scheme.lowercased()
    }

    /// The scheme of an address that was mistyped, as in `rtsp:/host/path`.
    private var mistyped: String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon].lowercased()
        return ["rtsp", "rtsps", "srt", "udp", "tcp"].contains(scheme) ? scheme : nil
    }

    /// Whether it is standard output, under any name, or an existing named pipe or device: these have no extension.
    private var isStream: Bool {
        if text == FileSink.standardOutput || text == "/dev/stdout" || text == "/dev/stderr" { return true }
        if text.hasPrefix("/dev/fd/") || text.hasPrefix("/proc/self/fd/") { return true }
        return kind == S_IFIFO || kind == S_IFCHR
    }

    /// The type of the existing file; 0 if there is none.
    private var kind: mode_t {
        var status = stat()
        return stat(text, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    /// The extension with its dot; nil if there is none.
    private var fileExtension: String? {
        let name = text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return String(name[dot...])
    }

    /// The extension of a container that camrec does not write; a raw stream with it would look like a damaged
    /// file.
    private var foreignContainer: String? {
        guard let name = fileExtension?.lowercased() else { return nil }
        return [
            ".avi", ".mov", ".webm", ".m4v", ".flv", ".wmv", ".mpg", ".mpeg", ".m2ts", ".mts", ".ogv", ".3gp",
        ]
        .first { $0 == name }
    }
}
