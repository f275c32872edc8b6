import Output

/// The input to play.
enum PlayInput {
    /// A raw stream: a file, a pipe, or a connection.
    case bytes(any ByteSource)
    /// A container, whose pictures have their own times, the file that it is read from, and another reader for its sound,
    /// if that is to be played.
    case container(ContainerReader, FileSource, sound: ContainerReader?)

    /// Whether its pictures have their own times.
    var hasTimes: Bool { if case .container = self { true } else { false } }

    /// Whether it can be played from any position.
    var isSeekable: Bool {
        switch self {
        case .bytes(let source): (source as? FileSource)?.isSeekable ?? false
        case .container: true
        }
    }

    /// Its name in messages.
    var name: String {
        switch self {
        case .bytes(let source): source.name
        case .container(let reader, _, _): reader.name
        }
    }
}
