import CamPictures
import CamPlatform

/// A text that is drawn into each picture.
public struct Overlay: Sendable, Hashable {
    /// What it says.
    public var text: OverlayText
    /// Where it is in the encoded picture.
    public var place = Place.topLeft
    /// The height of its line in pixels; nil for one that suits the picture.
    public var height: Int?
    /// What keeps it legible on any picture.
    public var box = Box.dark
    /// A font file for FreeType; nil for the font that is built in.
    public var font: String?
    /// What `{camera}` stands for.
    public var camera = ""
    /// UTC instead of local time.
    public var isUTC = false

    /// A text in the usual place.
    public init(_ text: OverlayText) { self.text = text }

    /// Heights that may be requested.
    public static let heights = 6...1000

    /// Where in the picture.
    public enum Place: String, Sendable, Hashable, CaseIterable {
        case topLeft = "top-left"
        case top
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottom
        case bottomRight = "bottom-right"
    }

    /// What is behind the text.
    public enum Box: String, Sendable, Hashable, CaseIterable {
        /// White text on a dark, translucent box.
        case dark
        /// Black text on a light, translucent box.
        case light
        /// White text with a black outline.
        case none
    }
}

/// How a text looks in pictures of one size. Nothing changes after it is made, so that conversions on several threads may
/// share it.
final class OverlayDesign: Sendable {
    let overlay: Overlay
    let atlas: GlyphAtlas
    /// The picture's.
    let size: PictureSize
    /// Pixels around the text, within the box or the outline.
    let padding: (x: Int, y: Int)
    /// Pixels from the box to the edges of the picture.
    let margin: Int
    /// What the luma of the text and of what is behind it is.
    let luma: (text: UInt8, back: UInt8)
    let wallTime: @Sendable (Instant) -> WallTime

    /// How much of the picture a box hides, of 255.
    static let opacity = 170

    /// - Parameter wallTime: the wall clock at a time of capture.
    init(
        _ overlay: Overlay, size: PictureSize, range: ColorEncoding.Range,
        wallTime: @escaping @Sendable (Instant) -> WallTime = { SystemTime().wallTime(at: $0) }
    ) throws(EncoderError) {
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

    /// A 24th of the shorter side, and of the built-in font a whole multiple if that is possible.
    private static func usualHeight(in size: PictureSize) -> Int {
        max(1, min(size.width, size.height) / 24 / 20) * 20
    }

    private static func atlas(_ overlay: Overlay, height: Int) throws(EncoderError) -> GlyphAtlas {
        let height = max(1, height)
        let characters = overlay.text.description.unicodeScalars + Array(overlay.camera.unicodeScalars)
        guard let font = overlay.font else { return .builtIn(height: height, characters) }
        return try .file(font, height: height, characters)
    }

    /// The width of the text at present.
    private static func width(
        _ overlay: Overlay, _ atlas: GlyphAtlas, _ wallTime: @escaping @Sendable (Instant) -> WallTime
    ) -> Int {
        var line = OverlayLine(overlay, atlas: atlas, wallTime: wallTime)
        // Numbers of frames grow.
        line.set(at: .now, frame: 1_000_000)
        return (0..<line.count).reduce(0) { $0 + atlas.width(line[$1]) }
    }

    /// The most columns that a text's box has in the picture.
    var mostColumns: Int { (size.width + 1) & ~1 }

    /// The rows of a text's box.
    var rows: Int { (atlas.height + 2 * padding.y + 1) & ~1 }

    /// Where a box with this many columns begins; both even, so that it begins with a chroma sample.
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

    /// Why a part of the text is beyond the picture; nil if it is all there.
    var note: EncoderNote? {
        let width = Self.width(overlay, atlas, wallTime) + 2 * padding.x
        guard width > size.width else { return nil }
        return EncoderNote(
            "--overlay is \(width) pixels wide, the picture \(size.width); its end is cut off, "
                + "so shorten it or lower --overlay-size", contradictsRequest: true)
    }
}
