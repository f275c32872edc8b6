import CamPictures
import CamPlatform

/// A text that the encoder draws into each picture.
public struct Overlay: Sendable, Hashable {
    /// The pattern of the text.
    public var text: OverlayText
    /// The position in the encoded picture.
    public var place = Place.topLeft
    /// The height of the line in pixels; nil for a height that suits the picture.
    public var height: Int?
    /// The background that keeps the text legible on any picture.
    public var box = Box.dark
    /// A font file for FreeType; nil for the font that is built in.
    public var font: String?
    /// The text that replaces `{camera}`.
    public var camera = ""
    /// Whether dates are in UTC instead of local time.
    public var isUTC = false

    /// A text at the default position.
    public init(_ text: OverlayText) { self.text = text }

    /// The range of heights that a user may request.
    public static let heights = 6...1000

    /// A position in the picture.
    public enum Place: String, Sendable, Hashable, CaseIterable {
        case topLeft = "top-left"
        case top
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottom
        case bottomRight = "bottom-right"
    }

    /// The background of the text.
    public enum Box: String, Sendable, Hashable, CaseIterable {
        /// White text on a dark, translucent box.
        case dark
        /// Black text on a light, translucent box.
        case light
        /// White text with a black outline.
        case none
    }
}

/// The layout and colors of a text in pictures of one size. Immutable: conversions on several threads may
/// share a design.
final class OverlayDesign: Sendable {
    let overlay: Overlay
    let atlas: GlyphAtlas
    /// The picture's size.
    let size: PictureSize
    /// Pixels around the text, within the box or the outline.
    let padding: (x: Int, y: Int)
    /// Pixels from the box to the edges of the picture.
    let margin: Int
    /// The luma of the text and of its background.
    let luma: (text: UInt8, back: UInt8)
    let wallTime: @Sendable (Instant) -> WallTime

    /// The opacity of a box, from 0 to 255.
    static let opacity = 170

    /// - Parameter wallTime: returns the wall clock at a time of capture.
    init(
        _ overlay: Overlay, size: PictureSize, range: ColorEncoding.Range,
        wallTime: @escaping @Sendable (Instant) -> WallTime = { SystemTime().wallTime(at: $0) }
    ) throws(PictureRequestError) {
        (self.overlay, self.size, self.wallTime) = (overlay, size, wallTime)
        let height = overlay.height ?? Self.usualHeight(in: size)
        var atlas = try Self.atlas(overlay, height: height)
        let width = Self.width(overlay, atlas, wallTime)
        let room = size.width - height / 2
        if overlay.height == nil, width > room, let smallest = [height * room / width, 8].max(),
            smallest < height
        {
            atlas = try Self.atlas(overlay, height: smallest)
        }
        self.atlas = atlas
        padding = (max(2, atlas.height / 4), max(1, atlas.height / 10))
        margin = atlas.height / 4 & ~1
        let (black, span, _) = range.levels
        let (white, dark) = (UInt8(black + span), UInt8(black))
        luma = overlay.box == .light ? (dark, white) : (white, dark)
    }

    /// A 24th of the shorter side, rounded down to a multiple of the built-in font's height, but at least
    /// that height.
    private static func usualHeight(in size: PictureSize) -> Int {
        max(1, min(size.width, size.height) / 24 / 20) * 20
    }

    private static func atlas(_ overlay: Overlay, height: Int) throws(PictureRequestError) -> GlyphAtlas {
        let height = max(1, height)
        let characters = overlay.text.description.unicodeScalars + Array(overlay.camera.unicodeScalars)
        guard let font = overlay.font else { return .builtIn(height: height, characters) }
        return try .file(font, height: height, characters)
    }

    /// The current width of the text.
    private static func width(
        _ overlay: Overlay, _ atlas: GlyphAtlas, _ wallTime: @escaping @Sendable (Instant) -> WallTime
    ) -> Int {
        var line = OverlayLine(overlay, atlas: atlas, wallTime: wallTime)
        // Leaves room for large frame numbers.
        line.set(at: .now, frame: 1_000_000)
        return (0..<line.count).reduce(0) { $0 + atlas.width(line[$1]) }
    }

    /// The maximum number of columns of the text's box.
    var mostColumns: Int { (size.width + 1) & ~1 }

    /// The number of rows of the text's box.
    var rows: Int { (atlas.height + 2 * padding.y + 1) & ~1 }

    /// The top left corner of a box with this many columns. Both coordinates are even: the box begins at a
    /// chroma sample.
    func origin(columns: Int) -> (x: Int, y: Int) {
        let (right, below) = (max(0, size.width - columns - margin), max(0, size.height - rows - margin))
        let (left, above) = (min(margin, right), min(margin, below))
        let middle = max(0, (size.width - columns) / 2)
        let (x, y) =
            switch overlay.place {
            case .topLeft: (left, above)
            case .top: (middle, above)
            case .topRight: (right, above)
            case .bottomLeft: (left, below)
            case .bottom: (middle, below)
            case .bottomRight: (right, below)
            }
        return (x & ~1, y & ~1)
    }

    /// A note if the text is wider than the picture; nil if the text fits.
    var note: String? {
        let width = Self.width(overlay, atlas, wallTime) + 2 * padding.x
        guard width > size.width else { return nil }
        return "--overlay is \(width) pixels wide, the picture \(size.width); its end is cut off, "
            + "so shorten it or lower --overlay-size"
    }
}
