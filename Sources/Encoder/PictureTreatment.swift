import CamPictures

/// What happens to a camera's pictures before they are encoded.
public struct PictureTreatment: Sendable, Hashable {
    /// What part is encoded, and how it lies.
    public var framing = Framing()
    /// A text in each picture; nil for none.
    public var overlay: Overlay?
    /// Whether each picture leaves a thumbnail behind (`PictureEncoder.thumbnail`), which changes nothing about it.
    public var leavesThumbnails = false

    /// Nothing.
    public init() {}

    /// Whether pictures are encoded as they are.
    public var isPlain: Bool { framing.isPlain && overlay == nil }

    /// The options that ask for it.
    var options: String {
        let overlay = overlay == nil ? nil : "--overlay"
        return [framing.isPlain ? nil : "\(framing)", overlay].compactMap { $0 }.joined(separator: " ")
    }

    /// Makes a converter for each of an encoder's places for pictures.
    public struct Converters {
        let source: PictureFormat
        let layout: PictureSurface.Layout
        let color: ColorEncoding
        let framing: Framing
        let makesThumbnails: Bool
        /// Shared by all of them.
        let design: OverlayDesign?

        /// Why a GPU cannot decode these pictures in place of the processor, as it would change nothing else about them;
        /// nil if it can.
        var obstacleToJPEG: String? {
            if design != nil { return "--overlay is drawn by the processor" }
            if !framing.isPlain { return "\(framing) is done by the processor" }
            if makesThumbnails { return "--on-motion looks at what the processor decodes" }
            return source.color == color ? nil : "colours are changed by the processor"
        }

        /// Why a GPU cannot read these pictures where the camera wrote them; nil if it can.
        var obstacleToSharing: String? {
            if !source.isShareable {
                return "a GPU reads only NV12, YUYV and UYVY of even size, and this is \(source.pixelFormat)"
            }
            if design != nil { return "--overlay is drawn into a copy" }
            if !framing.isPlain { return "\(framing) makes a copy" }
            if makesThumbnails { return "--on-motion looks at a copy" }
            return source.color == color ? nil : "colours are changed in a copy"
        }

        /// Returns another converter, with everything that it does not share.
        public func next() throws(ConversionError) -> PixelConverter {
            try PixelConverter(
                source: source, layout: layout, color: color, framing: framing, overlay: design,
                makesThumbnails: makesThumbnails)
        }
    }

    /// Returns what makes the converters of a stream.
    /// - Throws: if the source's pictures do not have that framing, or there is no such font.
    public func converters(
        of source: PictureFormat, layout: PictureSurface.Layout, color: ColorEncoding
    ) throws(EncoderError) -> Converters {
        let size = try framing.size(of: source.size)
        var design: OverlayDesign?
        if let overlay { design = try OverlayDesign(overlay, size: size, range: color.range) }
        return Converters(
            source: source, layout: layout, color: color, framing: framing,
            makesThumbnails: leavesThumbnails, design: design)
    }
}
