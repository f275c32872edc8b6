/// What `--report` writes.
struct PlayReport: Encodable {
    /// Counts of pictures. `received` is `decoded` + `beforeFirstKeyframe` + `frozen`, but for fields, of which two
    /// are a picture, and pictures that libavcodec left out.
    struct Pictures: Encodable {
        var received = 0
        var decoded = 0
        var beforeFirstKeyframe = 0
        var frozen = 0
        /// Shown in the window.
        var shown = 0
        /// Too late to be shown.
        var late = 0
    }

    let source: String
    var codec: String?
    var width: Int?
    var height: Int?
    /// `software`, or the render node.
    var decoder: String?
    /// Why no GPU decodes.
    var reasons: [String] = []
    var pictures = Pictures()
    var losses = 0
    var lastLoss: String?
    var connections = 0
    var bytes = 0
    var seconds = 0.0
}
