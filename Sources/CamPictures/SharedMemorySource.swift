/// A device, such as a GPU, that reads a camera's pictures where the camera puts them.
///
/// Safe to use from any thread.
public protocol SharedMemorySource: AnyObject, Sendable {
    /// Begins what takes time before memory can be allocated, as the camera's format is negotiated meanwhile.
    func prepare()

    /// Whether it may read pictures of a format as they are.
    func reads(_ format: PictureFormat) -> Bool

    /// Allocates memory for a camera to write pictures of a format into.
    /// - Returns: nil if the device's memory has another layout.
    func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]?

    /// Whether it has stopped reading pictures, so that a camera need not write into its memory any more.
    var isOver: Bool { get }

    /// Reads no format any more.
    /// - Parameter reason: why, for people.
    func giveUp(_ reason: String)
}
