import CamPictures

/// The treatment of a camera's pictures before they are encoded: hidden parts, framing, overlay and thumbnails.
public struct PictureTreatment: Sendable, Hashable {
    /// The parts to hide; nil for none.
    public var privacy: PrivacyMask?
    /// The part that is encoded, and its orientation and size.
    public var framing = Framing()
    /// A text in each picture; nil for none.
    public var overlay: Overlay?
    /// Whether each picture gets a thumbnail (`PictureEncoder.thumbnail`). Thumbnails do not change the
    /// picture.
    public var leavesThumbnails = false

    /// Leaves pictures unchanged.
    public init() {}

    /// Whether pictures are encoded unchanged.
    public var isPlain: Bool { framing.isPlain && overlay == nil && privacy == nil }

    /// The command-line options for this treatment.
    package var options: String {
        let (overlay, privacy) = (overlay.map { _ in "--overlay" }, privacy?.options)
        return [privacy, framing.isPlain ? nil : "\(framing)", overlay].compactMap { $0 }.joined(
            separator: " ")
    }

    /// Makes the converters of a stream, one for each picture that an encoder's input holds.
    public struct Converters {
        package let source: PictureFormat
        let layout: PictureSurface.Layout
        package let color: ColorEncoding
        package let framing: Framing
        package let makesThumbnails: Bool
        /// What is hidden, which all converters share.
        let hidden: HiddenArea?
        /// The overlay's design, which all converters share.
        let design: OverlayDesign?

        /// Why a part of the text is beyond the picture; nil if all of it is in the picture.
        package var note: String? { design?.note }

        /// Whether text is drawn into the pictures.
        package var drawsText: Bool { design != nil }

        /// Whether parts of the pictures are hidden.
        package var hidesParts: Bool { hidden != nil }

        /// Returns another converter, which shares only what is hidden and the overlay's design.
        public func next() throws(ConversionError) -> PixelConverter {
            try PixelConverter(
                source: source, layout: layout, color: color, framing: framing, hidden: hidden,
                overlay: design, makesThumbnails: makesThumbnails)
        }
    }

    /// Returns the converters of a stream.
    /// - Throws: if the mask or the framing does not fit the source's pictures, or the font is missing.
    public func converters(
        of source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding
    ) throws(PictureRequestError) -> Converters {
        let size = try framing.size(of: source.size)
        var hidden: HiddenArea?
        if let privacy { hidden = try HiddenArea(privacy, in: source.size) }
        var design: OverlayDesign?
        if let overlay { design = try OverlayDesign(overlay, size: size, range: color.range) }
        return Converters(
            source: source, layout: layout, color: color, framing: framing,
            makesThumbnails: leavesThumbnails, hidden: hidden, design: design)
    }
}
