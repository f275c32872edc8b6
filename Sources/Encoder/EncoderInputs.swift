import Bitstream
import CFFmpeg
import CamAcceleration
import CamPictures
import Synchronization
import CamConversion

/// The inputs of a recording's encoders. Encoders with the same input format share an input, which converts
/// each picture once for all of them.
///
/// Used by one thread at a time. An input lives as long as an encoder uses it.
final class EncoderInputs {
    private let codecs: [Codec]
    /// The treatment of all pictures, apart from the size that a configuration requests.
    private let treatment: PictureTreatment
    /// The known facts about render nodes, by path.
    private(set) var nodes: [String: NodeRecord]
    /// The inputs in use, one of each kind for each size that was requested.
    private var surfaces: [Weak<SurfaceInput>] = []
    private var memories: [Weak<SoftwareInput>] = []
    /// Counts pictures by decoder of Motion JPEG, throughout the recording.
    let jpeg: JPEGRecord
    /// Counts shared and copied pictures, throughout the recording.
    let sharing: SharingRecord
    /// The GPU memory that the camera writes into; nil if nothing is shared.
    private let sharedSurfaces: SharedSurfaces?

    /// - Parameters:
    ///   - codecs: the codecs of all encoders that the recording runs at once.
    ///   - treatment: the treatment of all pictures.
    ///   - nodes: the facts already known about render nodes.
    ///   - jpeg: records who decodes Motion JPEG.
    ///   - sharing: records shared and copied pictures.
    ///   - sharedSurfaces: the GPU memory that the camera writes into; nil if nothing is shared.
    init(
        codecs: [Codec], treatment: PictureTreatment = PictureTreatment(),
        nodes: [String: NodeRecord] = [:], jpeg: JPEGRecord = JPEGRecord(),
        sharing: SharingRecord = SharingRecord(), sharedSurfaces: SharedSurfaces? = nil
    ) {
        (self.codecs, self.treatment) = (codecs, treatment)
        (self.nodes, self.jpeg, self.sharing) = (nodes, jpeg, sharing)
        self.sharedSurfaces = sharedSurfaces
    }

    /// Returns new inputs that share only the facts known about render nodes, JPEG and the camera's memory.
    func successor() -> EncoderInputs {
        EncoderInputs(
            codecs: codecs, treatment: treatment, nodes: nodes, jpeg: jpeg, sharing: sharing,
            sharedSurfaces: sharedSurfaces)
    }

    /// An input that lives as long as an encoder uses it.
    private struct Weak<Input: AnyObject> {
        /// The requested size; nil if it is the treatment's.
        let size: PictureSize?
        weak var input: Input?
    }

    /// The treatment of the pictures of a rendition.
    func treatment(for configuration: CompressionProperties) -> PictureTreatment {
        var treatment = treatment
        if let size = configuration.size { treatment.framing.scale = size }
        return treatment
    }

    /// What a recording has learned about a render node.
    struct NodeRecord {
        /// The working upload method, determined by writing a picture and reading it back; nil before that.
        var upload: UploadMethod?
        /// The picture sizes for which uploads were checked.
        var checkedSizes: Set<PictureSize> = []
        /// The number of threads that hang in the node's driver.
        var hangs = 0

        /// Whether the node is no longer tried. A node that has worked may have been reset since, so it gets
        /// more attempts.
        var isLeftOut: Bool { hangs > (upload == nil ? 0 : 2) }
    }

    /// Records that a thread hangs in the node's driver. After one hang at the start, or several later, the
    /// driver is not called again.
    func recordHang(on node: String) {
        nodes[node, default: NodeRecord()].hangs += 1
        surfaces.removeAll { $0.input?.connection.node == node }
        sharedSurfaces?.forget(node)
    }

    /// Records that an encoder failed. If its GPU also decoded or shared pictures, that may have been the
    /// cause. The next encoder then does without, and does not reuse the connection or the surfaces of
    /// encoders that still work.
    /// - Returns: whether there is such a possible cause.
    func disableExtras(of input: any EncoderInput) -> Bool {
        guard let node = input.disableExtras() else { return false }
        sharedSurfaces?.forget(node)
        // Another encoder may have been reopened already: this encoder then joins its input.
        surfaces.removeAll { $0.input === input }
        return true
    }

    /// Returns the connection of an open encoder if it uses this render node, otherwise a new one.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection {
        if nodes[node]?.isLeftOut == true { throw EncoderError(.driverHangs(node: node)) }
        for open in surfaces {
            if let connection = open.input?.connection, connection.node == node { return connection }
        }
        if let open = try sharedSurfaces?.connection(to: node) { return open }
        return try VADisplayConnection(forEncodingOn: node)
    }

    /// Returns an input with surfaces on a render node.
    func surfaces(
        on connection: VADisplayConnection, source: PictureFormat, for configuration: CompressionProperties,
        size: PictureSize, color: ColorEncoding, upload: UploadMethod, jpeg way: JPEGMode,
        zeroCopy: ZeroCopyMode, heldPictures: Int
    ) throws(EncoderError) -> SurfaceInput {
        surfaces.removeAll { $0.input == nil }
        for open in surfaces where open.size == configuration.size {
            guard let input = open.input, input.connection === connection else { continue }
            try input.admitHolder(of: heldPictures, zeroCopy)
            return input
        }
        let input = try SurfaceInput(
            connection: connection, source: source, treatment: treatment(for: configuration), size: size,
            color: color, upload: nodes[connection.node]?.upload ?? upload)
        // A reopened encoder is not checked again, to save time while recording.
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
        surfaces.append(Weak(size: configuration.size, input: input))
        return input
    }

    /// Returns an input with pictures in memory, in a format that the software encoders of all codecs take.
    func memory(
        for source: PictureFormat, _ configuration: CompressionProperties = CompressionProperties(),
        size: PictureSize, color: ColorEncoding
    ) throws(EncoderError) -> SoftwareInput {
        memories.removeAll { $0.input == nil }
        for open in memories where open.size == configuration.size {
            if let input = open.input { return input }
        }
        // Software would read GPU memory, which may be slow.
        sharedSurfaces?.giveUp("software encodes")
        let input = try SoftwareInput(
            source: source, treatment: treatment(for: configuration), size: size, color: color,
            notesConversion: configuration.size == nil,
            // libx265 takes separate chroma planes only.
            arrangements: codecs.contains(.hevc) ? [.i420] : [.nv12, .nv21, .i420])
        memories.append(Weak(size: configuration.size, input: input))
        return input
    }
}

// MARK: - Inputs

/// Converts a camera's picture to an encoder's input format, once for all encoders with that format.
///
/// Used by the encode thread only; other threads may fill slots.
protocol EncoderInput: AnyObject {
    /// Returns a frame with the picture, without `pts` and type. The first call converts the picture, unless
    /// the slot already holds it; later calls return the same frame until `release`. The input owns the
    /// AVFrame, and its content is valid only as long as `buffer` lives.
    /// - Parameter number: the slot that may hold the picture.
    func frame(
        for buffer: borrowing PixelBuffer, in number: Int
    ) throws(EncoderError) -> UnsafeMutablePointer<AVFrame>

    /// The current picture's thumbnail, valid until a slot is opened for another picture; nil if thumbnails
    /// are off.
    var thumbnail: LumaThumbnail? { get }

    /// Whether encoders read the current picture in the camera's buffer, which must then be held until the
    /// picture is coded.
    var readsBuffer: Bool { get }

    /// Returns a slot that is open for a picture other than the current one; nil if there is nothing to
    /// convert, or no memory.
    func slot(_ number: Int) -> ConversionSlot?

    /// Records that an encoder of this input failed. If the GPU also decoded or shared pictures, that may
    /// have been the cause, and later inputs do without it.
    /// - Returns: the GPU's render node if there is such a possible cause, otherwise nil.
    func disableExtras() -> String?

    /// Releases the frame's content, after every encoder has taken the picture. Repeated calls have no
    /// effect.
    func release()
}

extension EncoderInput {
    /// By default, encoders copy their pictures.
    var readsBuffer: Bool { false }

    /// By default, the input uses no GPU for decoding or sharing.
    func disableExtras() -> String? { nil }
}

// MARK: - Sessions

/// Identifies the encoders that share one input on a GPU, in a recording's records.
///
/// Safe to use from any thread: a thread that hung in a driver may continue after its encoder was replaced.
final class InputSession: Sendable {
    /// The GPU's render node.
    let node: String
    private let isUsed = Atomic<Bool>(false)

    init(on node: String) { self.node = node }

    /// Whether the GPU has decoded JPEG or read shared memory for the encoders, which may be why they fail.
    var mayBeCause: Bool { isUsed.load(ordering: .relaxed) }

    /// Records such a use of the GPU.
    func noteUse() { isUsed.store(true, ordering: .relaxed) }
}
