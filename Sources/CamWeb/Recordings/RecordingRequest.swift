/// A request for a camera's recordings, which has been admitted.
struct RecordingRequest: Sendable {
    let camera: String
    let catalog: RecordingCatalog
    let target: RecordingTarget
    /// What the browser connected to.
    let authority: String
    /// The value of `Range`; nil if there is none, or several.
    let range: String?
    /// The value of `If-Range`.
    let condition: String?
}
