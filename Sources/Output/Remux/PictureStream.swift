import Bitstream
import Files

/// A picture, with both of its fields if it has two.
struct StreamPicture {
    /// Nil if it is left out because it is damaged or follows a damaged one; its place in time stays.
    let unit: AccessUnit?
    let order: PictureOrderCounter.Order
    /// When it is shown; nil where the recording does not say.
    let time: Duration?
}

/// A recording that is read picture by picture, as often as needed.
protocol PictureStream: AnyObject {
    /// The file's name.
    var path: String { get }
    /// Which file it is.
    var identity: FileIdentity? { get }
    /// The standard that it is coded by.
    var codec: Codec { get }
    /// Whether its pictures have their own times.
    var hasTimes: Bool { get }
    /// What is at its end and cannot be read, in words, once it was read through; nil if nothing is.
    var brokenEnd: String? { get }
    /// What is damaged, by what finds it, once it was read through.
    var damage: [StreamDamage] { get }
    /// What else is not taken over as it is, in words, once it was read through.
    var remarks: [String] { get }

    /// Reads the recording from its beginning.
    /// - Parameters:
    ///   - isOver: asked now and then; true ends the reading.
    ///   - body: called for each picture in decoding order; nil stands for a picture before the first IDR,
    ///     which nobody can decode.
    func forEachPicture(
        isOver: () -> Bool, _ body: (StreamPicture?) throws(RemuxError) -> Void
    ) throws(RemuxError)
}

extension PictureStream {
    var brokenEnd: String? { damage.compactMap(\.atEnd).first }

    /// A raw stream is taken over as it is.
    var remarks: [String] { [] }

    func forEachPicture(_ body: (StreamPicture?) throws(RemuxError) -> Void) throws(RemuxError) {
        try forEachPicture(isOver: { false }, body)
    }
}
