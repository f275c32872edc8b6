import Capture
import CamPictures

/// The values of `--size`, `--fps` and `--format` for a camera.
struct FormatCompletion {
    private let formats: [CameraFormat]

    /// What is offered where any size is possible.
    private static let commonSizes = [(640, 480), (1280, 720), (1920, 1080)].compactMap {
        PictureSize($0.0, $0.1)
    }

    /// - Parameters:
    ///   - formats: the camera's; empty for the test picture, or without a camera.
    ///   - pixelFormat: the chosen one; nil for any.
    init(_ formats: [CameraFormat], pixelFormat: PixelFormat? = nil) {
        self.formats = formats.filter {
            $0.pixelFormat.isReadable && (pixelFormat == nil || $0.pixelFormat == pixelFormat)
        }
    }

    /// As FourCCs, in the camera's order.
    var names: [String] { formats.map { "\($0.pixelFormat)" } }

    /// In the camera's order, each once. Of a range, the common ones within and the largest.
    var sizes: [String] {
        guard !formats.isEmpty else { return Self.commonSizes.map { "\($0)" } }
        return formats.flatMap(\.sizes).flatMap { size in
            size.smallest == size.largest
                ? [size.largest] : Self.commonSizes.filter(size.contains) + [size.largest]
        }.map { "\($0)" }.withoutRepetitions
    }

    /// Falling.
    /// - Parameter size: the chosen one; nil for any.
    func rates(at size: PictureSize?) -> [String] {
        formats.flatMap(\.sizes).filter { sizes in size.map(sizes.contains) ?? true }.flatMap(\.rates.listed)
            .sorted { $0.framesPerSecond > $1.framesPerSecond }.map { "\($0)" }.withoutRepetitions
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
