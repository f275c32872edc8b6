import CSDL2
import Decoder
import CamPictures

/// The shown picture, as a texture that the renderer can draw.
///
/// Luma and chroma are passed unchanged if SDL supports their encoding; everything else is converted first.
/// Used by the main thread.
final class PictureTexture {
    private let sdl: SDL
    private let renderer: OpaquePointer
    private let converter = PictureConverter(to: .bgra)
    private var texture: OpaquePointer?
    private var form: Form?
    /// The picture that the texture shows.
    private var picture: DecodedPicture?

    /// The properties of a texture.
    private struct Form: Equatable {
        let layout: PictureLayout
        let width: Int
        let height: Int
        let color: ColorEncoding
    }

    init(_ sdl: SDL, _ renderer: OpaquePointer) { (self.sdl, self.renderer) = (sdl, renderer) }

    /// Nil before the first picture.
    var current: OpaquePointer? { texture }

    /// Shows another picture.
    func update(_ picture: consuming DecodedPicture) throws(PlayError) {
        let isDirect = (picture.layout.map { !$0.isRGB } ?? false) && picture.color.conversionMode != nil
        let shown: DecodedPicture
        do throws(DecoderError) {
            shown = try isDirect ? picture : converter.convert(picture)
        } catch { throw .decoder(error) }
        try fill(with: shown)
        self.picture = consume shown
    }

    /// Restores the texture after the renderer has lost it, which may happen when the display's mode changes.
    func restore() throws(PlayError) {
        destroy()
        form = nil
        guard let lost = picture.take() else { return }
        try fill(with: lost)
        picture = consume lost
    }

    private func fill(with shown: borrowing DecodedPicture) throws(PlayError) {
        guard let layout = shown.layout else { return }
        let form = Form(layout: layout, width: shown.width, height: shown.height, color: shown.color)
        if form != self.form { try make(form) }
        fill(from: shown, layout)
    }

    private func make(_ form: Form) throws(PlayError) {
        destroy()
        if let mode = form.color.conversionMode { sdl.call.SetYUVConversionMode(mode) }
        texture = sdl.call.CreateTexture(
            renderer, form.layout.sdlFormat, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), Int32(form.width),
            Int32(form.height))
        guard texture != nil else { throw .notShown(reason: "SDL: \(sdl.lastError)") }
        self.form = form
    }

    private func fill(from picture: borrowing DecodedPicture, _ layout: PictureLayout) {
        func start(_ plane: Int) -> (UnsafePointer<UInt8>?, Int32) {
            // Valid beyond the call: the picture lives until `fill` returns.
            picture.withPlane(plane) { rows, stride in
                (rows.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(stride))
            }
        }
        let first = start(0)
        switch layout {
        case .yuv420p:
            let (cb, cr) = (start(1), start(2))
            _ = sdl.call.UpdateYUVTexture(texture, nil, first.0, first.1, cb.0, cb.1, cr.0, cr.1)
        case .nv12:
            let chroma = start(1)
            _ = sdl.call.UpdateNVTexture(texture, nil, first.0, first.1, chroma.0, chroma.1)
        case .bgra, .rgb24:
            _ = sdl.call.UpdateTexture(texture, nil, first.0, first.1)
        }
    }

    /// Releases the texture, which must not outlive its renderer.
    func destroy() {
        if let texture { sdl.call.DestroyTexture(texture) }
        texture = nil
    }
}

extension PictureLayout {
    fileprivate var sdlFormat: UInt32 {
        switch self {
        case .yuv420p: SDL_PIXELFORMAT_IYUV.rawValue
        case .nv12: SDL_PIXELFORMAT_NV12.rawValue
        // Blue comes first in memory: SDL names formats by machine words.
        case .bgra: SDL_PIXELFORMAT_ARGB8888.rawValue
        case .rgb24: SDL_PIXELFORMAT_RGB24.rawValue
        }
    }
}

extension ColorEncoding {
    /// SDL's conversion mode; nil if SDL has none for this encoding.
    fileprivate var conversionMode: SDL_YUV_CONVERSION_MODE? {
        switch (matrix, range) {
        case (.bt601, .full): SDL_YUV_CONVERSION_JPEG
        case (.bt601, .limited): SDL_YUV_CONVERSION_BT601
        case (.bt709, .limited): SDL_YUV_CONVERSION_BT709
        default: nil
        }
    }
}
