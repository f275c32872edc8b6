import CamPlatform

/// A recording that is listed.
struct Segment: Hashable, Sendable {
    /// The number by which requests name it: given out here, and to no other file as long as the program runs.
    let id: UInt64
    let file: RecordingFile
    let probe: RecordingProbe
    let isEvent: Bool

    var time: Range<WallTime> { probe.time }
}
