import Bitstream
import CamSound
import CamPlatform

/// The destination of a remux.
enum RemuxSink {
    case container(ContainerSink)
    case raw(FileSink)

    func write(_ picture: PictureQueue.Timed) throws(OutputError) {
        switch self {
        case .container(let sink):
            try sink.write(picture.unit, number: picture.number, timestamp: .start + picture.time)
        case .raw(let sink): try sink.write(picture.unit)
        }
    }

    func write(_ sound: SoundPacket) throws(OutputError) {
        if case .container(let sink) = self, sink.takesSound { try sink.write(sound) }
    }

    func finish() throws(OutputError) {
        switch self {
        case .container(let sink): try sink.finish()
        case .raw(let sink): try sink.finish()
        }
    }
}

/// The format that a remux writes.
public enum RemuxFormat: Sendable, Equatable {
    case container(ContainerFormat)
    /// NAL units with start codes, without times.
    case raw(Codec)

    /// The format that a file's name implies; nil for any other name.
    public init?(path: String) {
        if let format = ContainerFormat(path: path) {
            self = .container(format)
        } else if let codec = Codec(fileName: path) {
            self = .raw(codec)
        } else {
            return nil
        }
    }

    /// Whether it can contain sound that is coded in this way.
    public func takes(_ codec: SoundCodec) -> Bool {
        if case .container(let format) = self { format.takes(codec) } else { false }
    }
}
