/// What is wrong with a file or a folder of recordings.
struct RecordingProblem: Encodable, Hashable, Sendable {
    /// From the folder of recordings; empty for that itself.
    let name: String
    let reason: String
}
