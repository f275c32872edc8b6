import Bitstream
import Files

/// A picture, with both of its fields if it has two.
struct StreamPicture {
    /// Nil if it is left out because it is damaged or follows a damaged one; its place in time stays.
    let unit: AccessUnit?
    let order: PictureOrderCounter.Order
    /// When it is shown; nil if the recording does not say.
    let time: Duration?
}

/// A recording that can be read picture by picture, any number of times.
protocol PictureStream: AnyObject {
    /// The file's name.
    var path: String { get }
    /// The file's identity.
    var identity: FileIdentity? { get }
    /// Its coding standard.
    var codec: Codec { get }
    /// Whether its pictures have their own times.
    var hasTimes: Bool { get }
    /// What it says about the recording.
    var metadata: FileMetadata { get }
    /// What cannot be read at its end, in words, after it has been read completely; nil if there is nothing.
    var brokenEnd: String? { get }
    /// The damage, by the reader that found it, after it has been read completely.
    var damage: [StreamDamage] { get }
    /// What else is not preserved, in words, after it has been read completely.
    var remarks: [String] { get }

    /// Reads the recording from its beginning.
    /// - Parameters:
    ///   - isOver: called now and then; true ends the reading.
    ///   - body: called for each picture in decoding order; nil stands for a picture before the first IDR,
    ///     which cannot be decoded.
    func forEachPicture(
        isOver: () -> Bool, _ body: (StreamPicture?) throws(RemuxError) -> Void
    ) throws(RemuxError)
}

extension PictureStream {
    var brokenEnd: String? { damage.compactMap(\.atEnd).first }

    /// A raw stream says nothing.
    var metadata: FileMetadata { FileMetadata() }

    /// A raw stream is preserved completely.
    var remarks: [String] { [] }

    func forEachPicture(_ body: (StreamPicture?) throws(RemuxError) -> Void) throws(RemuxError) {
        try forEachPicture(isOver: { false }, body)
    }
}
