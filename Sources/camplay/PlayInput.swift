import Output

/// What is played.
enum PlayInput {
    /// A raw stream: a file, a pipe, or a connection.
    case bytes(any ByteSource)
    /// A container, whose pictures have their own times, and the file that it is read from.
    case container(ContainerReader, FileSource)

    /// Whether its pictures have their own times.
    var hasTimes: Bool { if case .container = self { true } else { false } }

    /// Whether it can be played from anywhere on.
    var isSeekable: Bool {
        switch self {
        case .bytes(let source): (source as? FileSource)?.isSeekable ?? false
        case .container: true
        }
    }

    /// What it is called in messages.
    var name: String {
        switch self {
        case .bytes(let source): source.name
        case .container(let reader, _): reader.name
        }
    }
}
