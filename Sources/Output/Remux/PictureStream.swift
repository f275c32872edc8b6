import Bitstream
import CamPlatform
import CamSound

/// A picture, with both of its fields if it has two.
struct StreamPicture {
    /// Nil if it is left out because it is damaged or follows a damaged one; its place in time stays.
    let unit: AccessUnit?
    let order: PictureOrderCounter.Order
    /// When it is shown; nil if the recording does not say.
    let time: Duration?
}

/// What a recording has next.
enum StreamPiece {
    case picture(StreamPicture)
    /// A picture before the first IDR, which cannot be decoded.
    case undecodable
    /// Sound, on the pictures' clock.
    case sound(SoundPacket)
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
    /// Its sound, after it has been read completely; nil if there is none that can be copied.
    var sound: SoundDescription? { get }
    /// What it says about the recording.
    var metadata: FileMetadata { get }
    /// What cannot be read at its end, in words, after it has been read completely; nil if there is nothing.
    var brokenEnd: String? { get }
    /// The damage, by the reader that found it, after it has been read completely.
    var damage: [StreamDamage] { get }
    /// What else is not preserved, in words, after it has been read completely.
    var remarks: [String] { get }

    /// Reads the recording.
    /// - Parameters:
    ///   - start: reading may begin at a keyframe before this time, from the first picture.
    ///   - isOver: called now and then; true ends the reading.
    ///   - body: called for each picture in decoding order, and for the sound, as the file has them.
    func forEach(
        near start: Duration, isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError)
}

extension PictureStream {
    var brokenEnd: String? { damage.compactMap(\.atEnd).first }

    /// A raw stream has none.
    var sound: SoundDescription? { nil }

    /// A raw stream says nothing.
    var metadata: FileMetadata { FileMetadata() }

    /// A raw stream is preserved completely.
    var remarks: [String] { [] }

    func forEach(
        isOver: () -> Bool, _ body: (StreamPiece) throws(RemuxError) -> Void
    ) throws(RemuxError) {
        try forEach(near: .zero, isOver: isOver, body)
    }

    func forEach(_ body: (StreamPiece) throws(RemuxError) -> Void) throws(RemuxError) {
        try forEach(isOver: { false }, body)
    }
}
