import CYUV
import CamPictures
import CamPlatform

/// Converts a stream's pictures into 4:2:0 surfaces, each in one pass over the camera's buffer.
///
/// The pass works in bands of a few rows, which stay in the cache: each source byte is fetched from memory
/// once, and each surface byte is written once. Formats that camrec reads itself go straight to the surface.
/// A scratch band comes in between if the colors change, a text touches the band, or the surface has a margin
/// to fill, and where parts are hidden, before anything else reads them. Vendor formats take two passes (see
/// `VendorReader`), and so do pictures that are scaled or turned by a right angle (see `Reframing`).
///
/// Nothing is allocated per frame, except inside libjpeg for JPEG.
///
/// One thread at a time may use a converter.
public final class PixelConverter {
    /// The format of the pictures that `convert` takes.
    public let source: PictureFormat
    /// The chroma layout of the surfaces that `convert` writes.
    public let layout: PictureSurface.Layout
    /// The size of the converted pictures.
    public let size: PictureSize

    private let window: SourceWindow
    private var recoloring: Recoloring?
    private let staging: StagingBand
    /// Nil for pictures that keep their orientation and size.
    private let reframing: Reframing?
    private let overlay: OverlayPainter?

    /// - Parameters:
    ///   - color: the encoding of the surfaces. Y′CbCr sources of another encoding are recolored, RGB sources
    ///     are converted directly.
    ///   - framing: must fit the source's pictures.
    ///   - makesThumbnails: whether each conversion updates `thumbnail`.
    /// - Throws: `.unsupported` if nothing reads the source's format.
    public convenience init(
        source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding,
        framing: Framing = Framing(), makesThumbnails: Bool = false
    ) throws(ConversionError) {
        try self.init(
            source: source, layout: layout, color: color, framing: framing, hidden: nil, overlay: nil,
            makesThumbnails: makesThumbnails)
    }

    init(
        source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding, framing: Framing,
        hidden: HiddenArea?, overlay: OverlayDesign?, makesThumbnails: Bool
    ) throws(ConversionError) {
        self.source = source
        self.layout = layout
        window = try SourceWindow(
            source, crop: framing.crop, color: color, makesThumbnails: makesThumbnails, hidden: hidden)
        recoloring =
            window.writesWantedColor
            ? nil : Recoloring(from: source.color, to: color)
        staging = StagingBand(width: window.size.width)
        reframing = try Reframing(
            window, framing, siting: source.chromaSiting, isRecolored: recoloring != nil)
        size = reframing?.size ?? window.size
        self.overlay = overlay.map { OverlayPainter($0) }
    }

    /// The latest picture's thumbnail, taken before turning and scaling; nil if thumbnails are off.
    public var thumbnail: LumaThumbnail? { window.thumbnail }

    /// Writes the buffer's picture, and the margin that `surface.paddedSize` asks for.
    ///
    /// - Throws: `.corrupt` or `.mismatched` if the frame is bad; the surface's content is then
    ///   undefined, and the next frame may be good.
    public func convert(
        _ buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        guard buffer.format === source else { throw .mismatched("the stream's format changed") }
        precondition(surface.layout == layout && surface.size == size)
        try window.begin(buffer)
        overlay?.begin(at: buffer.timestamp, frame: buffer.sequence)
        if let reframing {
            try reframing.convert(buffer, recoloring: &recoloring, overlay: overlay, into: surface)
        } else {
            try convert(upright: buffer, into: surface)
        }
        window.end()
    }

    private func convert(
        upright buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        var row = 0
        while row < size.height {
            let rows = window.rows(from: row)
            try convert(rows, of: buffer, into: surface)
            row = rows.upperBound
        }
    }

    private func convert(
        _ rows: Range<Int>, of buffer: borrowing PixelBuffer, into surface: PictureSurface
    ) throws(ConversionError) {
        let padded = surface.paddedSize
        let place = BandPlace(rows)
        let isCopied =
            padded.width > size.width || (rows.upperBound == size.height && padded.height > size.height)
            || overlay?.touches(place) == true
        let band = surface.band(from: rows.lowerBound, rows: rows.count)
        guard isCopied || recoloring != nil else { return try window.read(rows, of: buffer, into: band) }
        let staged = staging.band(rows: rows.count)
        try window.read(rows, of: buffer, into: staged)
        recoloring?.apply(to: staged, into: isCopied ? staged : band)
        guard isCopied else { return }
        overlay?.draw(on: staged, at: place)
        staging.copy(to: surface, at: place)
    }
}

// MARK: - Slots

/// A slot for one converted picture, which another thread may fill while the encode thread encodes the
/// previous picture.
///
/// The encode thread opens the slot on the encoder's memory and takes the picture it needs. If no other
/// thread has converted that picture yet, `take` converts it.
public final class ConversionSlot: @unchecked Sendable {
    // Safe to share: `state` is accessed with the lock held; the converter and the open memory belong to the thread
    // that set the state to `filling`.
    private let monitor = Monitor()
    private let converter: PixelConverter
    private var state = State.closed

    private enum State {
        case closed
        case open(PictureSurface)
        case filling
        case filled(PictureSurface, PixelBuffer.ID, ConversionError?)
    }

    package init(_ converter: PixelConverter) { self.converter = converter }

    /// The thumbnail of the latest picture taken from the slot, valid until the slot is opened again; nil if
    /// thumbnails are off.
    package var thumbnail: LumaThumbnail? { converter.thumbnail }

    /// Whether the slot has memory, with or without a picture in it.
    package var isOpen: Bool {
        monitor.withLock { if case .closed = state { false } else { true } }
    }

    /// Opens the slot on memory for a picture.
    package func open(on surface: PictureSurface) { monitor.withLock { state = .open(surface) } }

    /// Closes the slot, after waiting for a thread that is writing into the memory.
    package func close() {
        monitor.withLock {
            awaitFilling()
            state = .closed
        }
    }

    /// Converts a picture into the slot, unless the slot is closed, already holds that picture, or takes
    /// another format.
    public func fill(from buffer: borrowing PixelBuffer) {
        guard buffer.format === converter.source, let surface = begin(buffer.id) else { return }
        var failure: ConversionError?
        do { try converter.convert(buffer, into: surface) } catch { failure = error }
        end(.filled(surface, buffer.id, failure))
    }

    /// Closes the slot with a picture in its memory. After an error, the memory's content is undefined.
    package func take(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        guard buffer.format === converter.source else { throw .mismatched("the stream's format changed") }
        fill(from: buffer)
        let failure = monitor.withLock { () -> ConversionError? in
            defer { state = .closed }
            guard case .filled(_, _, let failure) = state else { return .mismatched("no memory for it") }
            return failure
        }
        if let failure { throw failure }
    }

    /// Returns the memory that the caller must fill with the picture; nil if there is nothing to convert.
    private func begin(_ id: PixelBuffer.ID) -> PictureSurface? {
        monitor.withLock {
            awaitFilling()
            switch state {
            case .open(let surface):
                state = .filling
                return surface
            case .filled(let surface, let former, _) where former != id:
                state = .filling
                return surface
            case .filled, .closed, .filling: return nil
            }
        }
    }

    private func end(_ next: State) {
        monitor.withLock {
            state = next
            monitor.signal()
        }
    }

    /// Waits until no thread converts into the slot. Call with the lock held.
    private func awaitFilling() {
        while case .filling = state { monitor.wait() }
    }
}

// MARK: - Errors

/// Why a picture could not be converted. `description` is one line.
public enum ConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Neither camrec nor libv4lconvert reads this format; the text says why.
    case unsupported(PixelFormat, String)
    /// The frame's data is damaged or cut short. The surface holds part of a picture at most.
    case corrupt(String)
    /// The frame is not of the size or format that the driver granted.
    case mismatched(String)
    /// A request does not fit the pictures.
    case request(PictureRequestError)
    case outOfMemory

    /// Whether only this frame is affected: skip and count it, the next one may be good.
    public var concernsOneFrame: Bool {
        switch self {
        case .corrupt, .mismatched: true
        case .unsupported, .request, .outOfMemory: false
        }
    }

    public var description: String {
        switch self {
        case .unsupported(let format, let reason):
            "pixel format \(format) cannot be converted: \(reason); choose another --format"
        case .corrupt(let reason):
            "corrupt frame: \(reason); check the camera's cable if there are many"
        case .mismatched(let detail):
            "frame differs from the granted format: \(detail); try another --size or --format"
        case .request(let error): error.description
        case .outOfMemory:
            "not enough memory to convert pictures; use a smaller --size"
        }
    }
}
