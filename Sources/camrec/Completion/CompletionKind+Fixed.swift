import CamAcceleration
import ArgumentParser
import Bitstream

/// What a shell offers that does not depend on a camera.
extension CompletionKind {
    /// Files in a form that camrec records.
    static let recording = file(extensions: ["mkv", "mp4", "ts", "h264", "h265"])
    /// Those, and AVCC.
    static let readable = file(extensions: ["mkv", "mp4", "ts", "h264", "h265", "avcc"])
    static let codec = list(Codec.allCases.map(\.rawValue))
    static let renderNode = custom { _, _, _ in RenderNode.all() }
}
