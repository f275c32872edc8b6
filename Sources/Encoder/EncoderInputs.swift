import Acceleration
import Bitstream
import Capture

/// The ways of a recording's pictures into its encoders, each shared by all encoders that take the same form:
/// a picture is then converted once for all of them.
///
/// Belongs to one thread at a time. Inputs live as long as an encoder that uses them.
final class EncoderInputs {
    private let codecs: [Codec]
    /// Render nodes in whose driver a thread hangs.
    private(set) var hungNodes: Set<String>
    private weak var surfaces: SurfaceInput?
    private weak var memory: SoftwareInput?

    /// - Parameters:
    ///   - codecs: the codecs of all encoders that the recording is to have at once.
    ///   - hungNodes: render nodes that are not to be entered.
    init(codecs: [Codec], hungNodes: Set<String> = []) {
        self.codecs = codecs
        self.hungNodes = hungNodes
    }

    /// Never enters the node's driver again, because a thread hangs in it.
    func leave(_ node: String) {
        hungNodes.insert(node)
        if surfaces?.connection.node == node { surfaces = nil }
    }

    /// The render node in use by an encoder that is open, if it is this one; else a new connection.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection {
        if hungNodes.contains(node) { throw EncoderError(.driverHangs(node: node)) }
        if let open = surfaces?.connection, open.node == node { return open }
        return try VADisplayConnection(forEncodingOn: node)
    }

    /// Surfaces on a render node.
    /// - Parameter heldBack: how many surfaces one encoder keeps for reordering.
    func surfaces(
        on connection: VADisplayConnection, source: PictureFormat, size: PictureSize, color: ColorEncoding,
        heldBack: Int
    ) throws(EncoderError) -> SurfaceInput {
        if let surfaces, surfaces.connection === connection { return surfaces }
        // One to fill, those that an encoder keeps for reordering, and those under way.
        let input = try SurfaceInput(
            connection: connection, source: source, size: size, color: color,
            surfaceCount: (4 + heldBack) * codecs.count)
        surfaces = input
        return input
    }

    /// Pictures in memory, in a form that all the codecs' software encoders take.
    func memory(
        for source: PictureFormat, size: PictureSize, color: ColorEncoding
    ) throws(EncoderError) -> SoftwareInput {
        if let memory { return memory }
        let input = try SoftwareInput(
            source: source, size: size, color: color,
            // libx265 takes separate chroma planes only.
            arrangements: codecs.contains(.hevc) ? [.i420] : [.nv12, .nv21, .i420])
        memory = input
        return input
    }
}
