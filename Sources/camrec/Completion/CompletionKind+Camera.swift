import ArgumentParser
import Capture
import CamPictures

/// What a shell offers for options whose values depend on the camera. Nothing is said where there is no camera.
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

    /// The controls of the chosen camera, and the values of those that list them.
    static let control = plain { line, prefix in
        let controls = line.withCamera { camera in camera.controls } ?? []
        return ControlCompletion(controls).candidates(for: prefix)
    }

    /// Candidates without anything that a shell would interpret: bash expands what it is offered, and some names come
    /// from the camera, or are those of other people's files.
    private static func plain(
        _ candidates: @escaping @Sendable (_ line: PartialCommandLine, _ prefix: String) -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            candidates(PartialCommandLine(words: words), prefix).filter(\.isPlainWord)
        }
    }
}

extension String {
    /// Whether no shell interprets any of it. (A colon ends a candidate in zsh.)
    var isPlainWord: Bool {
        utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII
                && (character.isLetter || character.isNumber || "/._-+,=@%".contains(character))
        }
    }
}

extension PartialCommandLine {
    /// Returns something of the camera that the line names, or else of the first; nil if there is none.
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
