import Bitstream

/// A stream in a container without an end, for receivers that may join at any keyframe. Used by one thread.
///
/// Pictures must come in presentation order.
public final class LiveContainer {
    private let framing: ContainerFraming

    /// Loads libavformat.
    /// - Parameter name: the stream's, in messages.
    public init(
        _ format: ContainerFormat, stream: StreamDescription, name: String
    ) throws(OutputError) {
        framing = try ContainerFraming(format, stream: stream, name: name)
    }

    /// What each receiver gets before its first picture; known once a picture was framed.
    public var prologue: [UInt8] { framing.prologue }

    /// Returns a picture as receivers get it. The first one must be a keyframe.
    public func frame(_ unit: AccessUnit) throws(OutputError) -> [UInt8] {
        var bytes: [UInt8] = []
        try framing.frame(unit, into: &bytes)
        return bytes
    }
}
