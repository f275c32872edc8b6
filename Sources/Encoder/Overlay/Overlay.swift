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
