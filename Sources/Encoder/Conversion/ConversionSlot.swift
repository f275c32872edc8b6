import CamPictures
import CamPlatform

/// A place for one converted picture, which another thread may fill while the encode thread encodes the picture
/// before.
///
/// The encode thread opens it, on memory that belongs to the encoder, and takes the picture that it wants; whether
/// another thread had converted that one already makes no difference but the time.
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

    init(_ converter: PixelConverter) { self.converter = converter }

    /// The thumbnail of the picture that was taken from it, until it is opened again; nil if none are made.
    var thumbnail: LumaThumbnail? { converter.thumbnail }

    /// Whether there is memory for a picture, perhaps with a picture.
    var isOpen: Bool {
        monitor.withLock { if case .closed = state { false } else { true } }
    }

    /// Gives it memory for a picture.
    func open(on surface: PictureSurface) { monitor.withLock { state = .open(surface) } }

    /// Takes the memory away, as soon as no thread writes into it.
    func close() {
        monitor.withLock {
            awaitFilling()
            state = .closed
        }
    }

    /// Converts a picture into it, unless it is closed, has that picture already, or takes another format.
    public func fill(from buffer: borrowing PixelBuffer) {
        guard buffer.format === converter.source, let surface = begin(buffer.id) else { return }
        var failure: ConversionError?
        do { try converter.convert(buffer, into: surface) } catch { failure = error }
        end(.filled(surface, buffer.id, failure))
    }

    /// Closes it, with a picture. Afterwards the memory has the picture, or on an error anything.
    func take(_ buffer: borrowing PixelBuffer) throws(ConversionError) {
        guard buffer.format === converter.source else { throw .mismatched("the stream's format changed") }
        fill(from: buffer)
        let failure = monitor.withLock { () -> ConversionError? in
            defer { state = .closed }
            guard case .filled(_, _, let failure) = state else { return .mismatched("no memory for it") }
            return failure
        }
        if let failure { throw failure }
    }

    /// Returns the memory for a picture, which the caller must now fill; nil if there is nothing to do.
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

    /// Waits, with the lock held, until no thread converts into it.
    private func awaitFilling() {
        while case .filling = state { monitor.wait() }
    }
}
