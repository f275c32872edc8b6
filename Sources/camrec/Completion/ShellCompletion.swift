import ArgumentParser
import Bitstream
import CamAcceleration
import CamControlProtocol
import CamPictures
import CamPlatform
import Capture

/// Completions that do not depend on a camera.
extension CompletionKind {
    /// Files in a format that camrec records.
    static let recording = file(extensions: ["mkv", "mp4", "ts", "h264", "h265"])
    /// Files in a format that camrec reads: the recorded ones and AVCC.
    static let readable = file(extensions: ["mkv", "mp4", "ts", "h264", "h265", "avcc"])
    static let codec = list(Codec.allCases.map(\.rawValue))
    static let renderNode = custom { _, _, _ in RenderNode.all() }
}

/// Completions for options whose values depend on the camera; empty without a camera.
extension CompletionKind {
    /// Cameras, the test picture, and video files.
    static let device = plain { _, prefix in DeviceCompletion.candidates(for: prefix) }

    /// The sizes of the chosen camera, in the chosen format.
    static let size = plain { line, _ in
        let format = line.value(of: "--format").flatMap { PixelFormat($0) }
        return FormatCompletion(line.formats, pixelFormat: format).sizes
    }

    /// The frame rates of the chosen camera, at the chosen size.
    static let frameRate = plain { line, _ in
        let format = line.value(of: "--format").flatMap { PixelFormat($0) }
        let size = line.value(of: "--size").flatMap { PictureSize($0) }
        return FormatCompletion(line.formats, pixelFormat: format).rates(at: size)
    }

    /// The pixel formats of the chosen camera that camrec reads.
    static let pixelFormat = plain { line, prefix in
        let names = FormatCompletion(line.formats).names
        return ["auto"] + (prefix.contains(where: \.isUppercase) ? names : names.map { $0.lowercased() })
    }

    /// The inputs of the chosen camera.
    static let input = plain { line, _ in
        line.withCamera { camera in camera.inputs.all.flatMap { ["\($0.index)", $0.name] } } ?? []
    }

    /// The television standards of the chosen camera.
    static let standard = plain { line, _ in
        line.withCamera { camera in camera.standards.all.map(\.name) } ?? []
    }

    /// The controls of the chosen camera, and the values of controls that list them.
    static let control = plain { line, prefix in
        let controls = line.withCamera { camera in camera.controls } ?? []
        return ControlCompletion(controls).candidates(for: prefix)
    }

    /// The properties of a rendition after a place to listen.
    static let listening = plain { _, prefix in RenditionCompletion.candidates(for: prefix) }

    /// Candidates that no shell interprets: bash expands its candidates, and names may come from the camera
    /// or be those of other users' files.
    private static func plain(
        _ candidates: @escaping @Sendable (_ line: PartialCommandLine, _ prefix: String) -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            candidates(PartialCommandLine(words: words), prefix).filter(\.isPlainWord)
        }
    }
}

extension String {
    /// Whether no shell interprets any character. (A colon ends a candidate in zsh.)
    var isPlainWord: Bool {
        utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII
                && (character.isLetter || character.isNumber || "/._-+,=@%".contains(character))
        }
    }
}

extension PartialCommandLine {
    /// Returns a value of the camera that the line names, or of the first camera; nil without a camera.
    func withCamera<Value>(_ body: (borrowing Camera) -> Value) -> Value? {
        do throws(CaptureError) {
            let device = value(of: "--device")
            guard device.map(CaptureSource.isBuiltIn) != true else { return nil }
            let camera = if let device { try Camera(path: device) } else { try Camera.first() }
            return body(camera)
        } catch { return nil }
    }

    /// The formats of that camera; empty for the built-in sources.
    fileprivate var formats: [CameraFormat] { withCamera { $0.formats } ?? [] }
}

// MARK: Command line

/// A command line that is still being typed.
struct PartialCommandLine {
    /// The words as the shell splits them, perhaps with quotes.
    let words: [String]

    /// Returns the value of an option; nil if none has been typed.
    func value(of option: String) -> String? {
        let values = words.indices.compactMap { index -> String? in
            if words[index].hasPrefix("\(option)=") {
                return String(words[index].dropFirst(option.count + 1))
            }
            return words[index] == option && index + 1 < words.count ? words[index + 1] : nil
        }
        return values.last.map { $0.filter { !#"'"\"#.contains($0) } }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

// MARK: Candidates

/// The values of `--device`.
enum DeviceCompletion {
    static func candidates(for prefix: String) -> [String] {
        VideoNode.all().filter(isCamera).compactMap { node in
            offered(of: names(of: node), for: prefix)
        } + [TestSource.name] + videoFiles(for: prefix)
    }

    /// Returns the first of a camera's names that has been begun and that no shell interprets.
    static func offered(of names: [String], for prefix: String) -> String? {
        names.first { $0.hasPrefix(prefix) && $0.isPlainWord }
    }

    /// A camera's names, the best first.
    private static func names(of node: String) -> [String] {
        [StableLink.find(for: node), StableLink.find(for: node, in: StableLink.ownFolder), node]
            .compactMap { $0 }
    }

    /// Whether a node is a camera, or may be one that cannot be opened.
    private static func isCamera(_ node: String) -> Bool {
        do throws(CaptureError) {
            return try !Camera(path: node).formats.isEmpty
        } catch {
            if case .notACaptureDevice = error.kind { return false }
            return true
        }
    }

    /// The `.y4m` files, and the folders on the way to one.
    private static func videoFiles(for prefix: String) -> [String] {
        guard !prefix.hasPrefix("/dev/") else { return [] }
        let parent = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        return Folder.names(in: parent.isEmpty ? "." : parent).sorted().compactMap { name in
            guard !name.hasPrefix("."), (parent + name).hasPrefix(prefix) else { return nil }
            if CaptureSource.isBuiltIn(name) { return parent + name }
            return prefix.isEmpty || !Folder.exists(parent + name) ? nil : parent + name + "/"
        }
    }
}

/// The values of `--size`, `--fps` and `--format` for a camera.
struct FormatCompletion {
    private let formats: [CameraFormat]

    /// The candidates where any size is possible.
    private static let commonSizes = [(640, 480), (1280, 720), (1920, 1080)].compactMap {
        PictureSize($0.0, $0.1)
    }

    /// - Parameters:
    ///   - formats: the camera's formats; empty for the test picture, or without a camera.
    ///   - pixelFormat: the chosen one; nil for any.
    init(_ formats: [CameraFormat], pixelFormat: PixelFormat? = nil) {
        self.formats = formats.filter {
            $0.pixelFormat.isReadable && (pixelFormat == nil || $0.pixelFormat == pixelFormat)
        }
    }

    /// The FourCCs of the pixel formats, in the camera's order.
    var names: [String] { formats.map { "\($0.pixelFormat)" } }

    /// The sizes in the camera's order, without duplicates. A range contributes its common sizes and its
    /// largest.
    var sizes: [String] {
        guard !formats.isEmpty else { return Self.commonSizes.map { "\($0)" } }
        return formats.flatMap(\.sizes).flatMap { size in
            size.smallest == size.largest
                ? [size.largest] : Self.commonSizes.filter(size.contains) + [size.largest]
        }.map { "\($0)" }.withoutRepetitions
    }

    /// Returns the frame rates, highest first.
    /// - Parameter size: the chosen one; nil for any.
    func rates(at size: PictureSize?) -> [String] {
        formats.flatMap(\.sizes).filter { sizes in size.map(sizes.contains) ?? true }.flatMap(\.rates.listed)
            .sorted { $0.framesPerSecond > $1.framesPerSecond }.map { "\($0)" }.withoutRepetitions
    }
}

/// The properties after an output or a place to listen: `9983,size=`, `9983,size=640x360,codec=hevc`.
enum RenditionCompletion {
    /// Returns completions of the last property: its name, or its values if they are few. None before the first comma.
    static func candidates(for prefix: String) -> [String] {
        guard let comma = prefix.lastIndex(of: ",") else { return [] }
        let (settled, open) = (prefix[...comma], prefix[prefix.index(after: comma)...])
        guard let equals = open.firstIndex(of: "=") else {
            let taken = Set(OutputText(String(prefix[..<comma])).properties.map(\.key))
            return OutputText.Key.allCases.filter { !taken.contains($0) }.map { "\(settled)\($0.rawValue)=" }
        }
        let values: [String] =
            switch OutputText.Key(rawValue: String(open[..<equals])) {
            case .size: FormatCompletion([]).sizes
            case .codec: Codec.allCases.map(\.rawValue)
            default: []
            }
        return values.map { "\(settled)\(open[...equals])\($0)" }
    }
}

extension CameraFormat.Size {
    fileprivate func contains(_ size: PictureSize) -> Bool {
        (smallest.width...largest.width).contains(size.width)
            && (smallest.height...largest.height).contains(size.height)
    }
}

extension [String] {
    fileprivate var withoutRepetitions: [String] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

/// The values of `--control` for a camera: `brightness=`, `auto_exposure=manual,brightness=`.
struct ControlCompletion {
    private let controls: [CameraControl]

    init(_ controls: [CameraControl]) {
        self.controls = controls.filter { control in
            control.obstacle != .readOnly && control.kind != .compound
        }
    }

    /// Returns completions of the list's last setting: names, or values once it has a name.
    func candidates(for prefix: String) -> [String] {
        let comma = prefix.lastIndex(of: ",").map(prefix.index(after:)) ?? prefix.startIndex
        let (settled, open) = (prefix[..<comma], prefix[comma...])
        guard let equals = open.firstIndex(of: "=") else {
            let taken = Set(settled.split(separator: ",").map { $0.prefix { $0 != "=" } })
            return controls.filter { !taken.contains(Substring($0.name)) }.map { "\(settled)\($0.name)=" }
        }
        let choices = CameraControl.named(String(open[..<equals]), in: controls)?.listedChoices ?? []
        return choices.map { "\(settled)\(open[...equals])\($0)" }
    }
}
