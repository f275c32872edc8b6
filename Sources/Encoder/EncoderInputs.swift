import Acceleration
import Bitstream
import Pictures

/// The ways of a recording's pictures into its encoders, each shared by all encoders that take the same form:
/// a picture is then converted once for all of them.
///
/// Belongs to one thread at a time. Inputs live as long as an encoder that uses them.
final class EncoderInputs {
    private let codecs: [Codec]
    /// What is known of render nodes, by path.
    private(set) var nodes: [String: NodeRecord]
    private weak var surfaces: SurfaceInput?
    private weak var memory: SoftwareInput?

    /// - Parameters:
    ///   - codecs: the codecs of all encoders that the recording is to have at once.
    ///   - nodes: what is already known about render nodes.
    init(codecs: [Codec], nodes: [String: NodeRecord] = [:]) {
        self.codecs = codecs
        self.nodes = nodes
    }

    /// What came of a render node in a recording.
    struct NodeRecord {
        /// How pictures are uploaded, since a picture was written and read back; nil before.
        var upload: UploadMethod?
        /// Those of pictures that were.
        var checkedSizes: Set<PictureSize> = []
        /// Threads that hang in its driver.
        var hangs = 0

        /// One that has worked may have been reset since.
        var isLeftOut: Bool { hangs > (upload == nil ? 0 : 2) }
    }

    /// A thread hangs in the node's driver. After one hang at the start, or several later, it is not entered again.
    func recordHang(on node: String) {
        nodes[node, default: NodeRecord()].hangs += 1
        if surfaces?.connection.node == node { surfaces = nil }
    }

    /// The render node in use by an encoder that is open, if it is this one; else a new connection.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection {
        if nodes[node]?.isLeftOut == true { throw EncoderError(.driverHangs(node: node)) }
        if let open = surfaces?.connection, open.node == node { return open }
        return try VADisplayConnection(forEncodingOn: node)
    }

    /// Surfaces on a render node.
    func surfaces(
        on connection: VADisplayConnection, source: PictureFormat, size: PictureSize, color: ColorEncoding,
        upload: UploadMethod
    ) throws(EncoderError) -> SurfaceInput {
        if let surfaces, surfaces.connection === connection { return surfaces }
        let input = try SurfaceInput(
            connection: connection, source: source, size: size, color: color,
            upload: nodes[connection.node]?.upload ?? upload)
        // What is opened again in the recording is not checked again: nobody is to wait for that.
        if nodes[connection.node]?.checkedSizes.contains(size) != true {
            try input.check(isChangeable: upload == .auto)
            nodes[connection.node, default: NodeRecord()].upload = upload == .auto ? input.upload : upload
            nodes[connection.node]?.checkedSizes.insert(size)
        }
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
