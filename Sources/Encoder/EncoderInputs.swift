import Bitstream
import CFFmpeg
import CamAcceleration
import CamPictures
import Synchronization

/// The inputs of a recording's encoders. Encoders that take the same form share an input, so that each
/// picture is converted once for all of them.
///
/// Belongs to one thread at a time. Inputs live as long as an encoder that uses them.
final class EncoderInputs {
    private let codecs: [Codec]
    /// What happens to the pictures.
    let treatment: PictureTreatment
    /// What is known of render nodes, by path.
    private(set) var nodes: [String: NodeRecord]
    private weak var surfaces: SurfaceInput?
    private weak var memory: SoftwareInput?
    /// What decoded Motion JPEG, throughout the recording.
    let jpeg: JPEGRecord
    /// Which pictures were not copied, throughout the recording.
    let sharing: SharingRecord
    /// What the camera writes into; nil if nothing is shared with it.
    private let sharedSurfaces: SharedSurfaces?

    /// - Parameters:
    ///   - codecs: the codecs of all encoders that the recording will have at once.
    ///   - treatment: what happens to the pictures.
    ///   - nodes: what is already known about render nodes.
    ///   - jpeg: takes note of what decodes Motion JPEG.
    ///   - sharing: takes note of pictures that are not copied.
    ///   - sharedSurfaces: what the camera writes into; nil if nothing is shared with it.
    init(
        codecs: [Codec], treatment: PictureTreatment = PictureTreatment(),
        nodes: [String: NodeRecord] = [:], jpeg: JPEGRecord = JPEGRecord(),
        sharing: SharingRecord = SharingRecord(), sharedSurfaces: SharedSurfaces? = nil
    ) {
        (self.codecs, self.treatment) = (codecs, treatment)
        (self.nodes, self.jpeg, self.sharing) = (nodes, jpeg, sharing)
        self.sharedSurfaces = sharedSurfaces
    }

    /// New inputs that share nothing with these but what is known of render nodes, JPEG and the camera's memory.
    func successor() -> EncoderInputs {
        EncoderInputs(
            codecs: codecs, treatment: treatment, nodes: nodes, jpeg: jpeg, sharing: sharing,
            sharedSurfaces: sharedSurfaces)
    }

    /// What a recording has learned about a render node.
    struct NodeRecord {
        /// How pictures are uploaded, as determined by writing a picture and reading it back; nil before
        /// that.
        var upload: UploadMethod?
        /// The picture sizes that were checked in this way.
        var checkedSizes: Set<PictureSize> = []
        /// Threads that hang in its driver.
        var hangs = 0

        /// A node that has worked may have been reset since, so it gets more attempts.
        var isLeftOut: Bool { hangs > (upload == nil ? 0 : 2) }
    }

    /// Records that a thread hangs in the node's driver. After one hang at the start, or several later, the
    /// driver is not called again.
    func recordHang(on node: String) {
        nodes[node, default: NodeRecord()].hangs += 1
        if surfaces?.connection.node == node { surfaces = nil }
        sharedSurfaces?.forget(node)
    }

    /// Notes that an encoder failed. What its GPU did besides encoding may be what failed: the next one does without that,
    /// and neither on the connection nor with the surfaces of those that have not failed yet.
    /// - Returns: whether there was such a thing.
    func blameExtras(of input: any EncoderInput) -> Bool {
        guard let node = input.blameExtras() else { return false }
        sharedSurfaces?.forget(node)
        // Another encoder may have been reopened already: this one then joins it.
        if let surfaces, surfaces === input { self.surfaces = nil }
        return true
    }

    /// Returns the connection of an open encoder if it uses this render node, otherwise a new one.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection {
        if nodes[node]?.isLeftOut == true { throw EncoderError(.driverHangs(node: node)) }
        if let open = surfaces?.connection, open.node == node { return open }
        if let open = try sharedSurfaces?.connection(to: node) { return open }
        return try VADisplayConnection(forEncodingOn: node)
    }

    /// Returns an input with surfaces on a render node.
    func surfaces(
        on connection: VADisplayConnection, source: PictureFormat, size: PictureSize, color: ColorEncoding,
        upload: UploadMethod, jpeg way: JPEGWay, zeroCopy: ZeroCopyWay,
        heldPictures: Int
    ) throws(EncoderError) -> SurfaceInput {
        if let surfaces, surfaces.connection === connection {
            try surfaces.admitHolder(of: heldPictures, zeroCopy)
            return surfaces
        }
        let input = try SurfaceInput(
            connection: connection, source: source, treatment: treatment, size: size, color: color,
            upload: nodes[connection.node]?.upload ?? upload)
        // An encoder that is reopened while recording is not checked again: that would take time.
        if nodes[connection.node]?.checkedSizes.contains(size) != true {
            try input.check(isChangeable: upload == .auto)
            nodes[connection.node, default: NodeRecord()].upload = upload == .auto ? input.upload : upload
            nodes[connection.node]?.checkedSizes.insert(size)
        }
        try input.shareMemory(zeroCopy, sharing, sharedSurfaces)
        try input.admitHolder(of: heldPictures, zeroCopy)
        if way != .cpu, source.pixelFormat.arrangement == .jpeg {
            try input.decodeJPEG(way, jpeg)
        } else if way == .gpu {
            throw EncoderError(
                .contradiction(
                    "--jpeg gpu is for Motion JPEG, and this is \(source.pixelFormat); leave it out, or use "
                        + "--format mjpeg"))
        }
        surfaces = input
        return input
    }

    /// Returns an input with pictures in memory, in a form that the software encoders of all codecs take.
    func memory(
        for source: PictureFormat, size: PictureSize, color: ColorEncoding
    ) throws(EncoderError) -> SoftwareInput {
        if let memory { return memory }
        // The processor would read a GPU's memory, which may be slow.
        sharedSurfaces?.giveUp("software encodes")
        let input = try SoftwareInput(
            source: source, treatment: treatment, size: size, color: color,
            // libx265 takes separate chroma planes only.
            arrangements: codecs.contains(.hevc) ? [.i420] : [.nv12, .nv21, .i420])
        memory = input
        return input
    }
}

/// Converts a camera's picture into the form that an encoder takes, once for all encoders that take that
/// form.
///
/// Used by the encode thread only; slots may be filled by others.
protocol EncoderInput: AnyObject {
    /// Returns a frame with the picture, without `pts` and type. The first call converts the picture, unless it is
    /// in the slot already; later calls return the same frame until `release`. The caller frees nothing: it is the
    /// same AVFrame each time, and its content is only valid as long as `buffer` lives.
    /// - Parameter number: the slot in which the picture may be.
    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// The current picture's thumbnail, until a slot is opened for another; nil if none are made.
    var thumbnail: LumaThumbnail? { get }

    /// Whether the current picture is in the camera's buffer, which must then stay until the picture is coded.
    var readsBuffer: Bool { get }

    /// Returns a slot, open for another picture than the current one; nil if there is nothing to convert, or no
    /// memory.
    func slot(_ number: Int) -> ConversionSlot?

    /// Notes that an encoder of its pictures failed. What the GPU did for the input may be what failed: later inputs do
    /// without that.
    /// - Returns: the GPU's render node, if there was such a thing.
    func blameExtras() -> String?

    /// Releases what the frame holds, after every encoder has taken it. Repeated calls have no effect.
    func release()
}

extension EncoderInput {
    /// Encoders copy what they are given, by default.
    var readsBuffer: Bool { false }

    /// Inputs do nothing besides, by default.
    func blameExtras() -> String? { nil }
}

/// The encoders that share one input on a GPU; identifies them in a recording's records.
///
/// Any thread may use it: a thread that hung in a driver may continue after its encoder was replaced.
final class InputSession: Sendable {
    /// Its GPU's render node.
    let node: String
    private let isUsed = Atomic<Bool>(false)

    init(on node: String) { self.node = node }

    /// Whether the GPU has done something besides encoding for them, which may be why they fail.
    var mayBeBlamed: Bool { isUsed.load(ordering: .sequentiallyConsistent) }

    /// Notes such a use of the GPU.
    func noteUse() { isUsed.store(true, ordering: .sequentiallyConsistent) }
}
