import ArgumentParser
import Encoder
import CamPictures
import CamCommandLine
import CamConversion

/// Options that change the pictures.
struct PictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use only this part of the camera's picture: 640x480+320+120 begins 320 columns from the left and 120 rows from the top. Even numbers.",
            valueName: "WxH+X+Y"), transform: CropRectangle.read)
    var crop: CropRectangle?

    @Option(
        help: ArgumentHelp(
            "Turn the picture clockwise by 90, 180 or 270 degrees.", valueName: "DEGREES"),
        completion: .list(Rotation.allCases.map { "\($0.rawValue)" }), transform: Rotation.read)
    var rotate: Rotation?

    @Option(
        help: ArgumentHelp(
            "Mirror the picture, after --rotate: h exchanges left and right, v top and bottom.",
            valueName: "h|v"), completion: .list(Flip.allCases.map(\.rawValue)), transform: Flip.read)
    var flip: Flip?

    @Option(
        help: ArgumentHelp(
            "Scale the picture to this size, after --crop and --rotate. Even numbers.", valueName: "WxH"),
        transform: PictureSize.read)
    var scale: PictureSize?

    @Option(
        help: ArgumentHelp(
            "Write a text with the time of capture into each picture: strftime's %F, %T, ..., %f for milliseconds, {camera} for the camera's name, {frame} for the driver's number of the frame.",
            valueName: "TEXT"), transform: OverlayText.read)
    var overlay: OverlayText?

    @Option(help: ArgumentHelp("Where the text is. Default: top-left.", valueName: "PLACE"))
    var overlayPlace: Overlay.Place?

    @Option(
        help: ArgumentHelp(
            "Height of the text in pixels, 6 to 1000. Default: a 24th of the picture, at least 20 if that fits.",
            valueName: "PIXELS"), transform: PlainValue.number(Overlay.heights))
    var overlaySize: Int?

    @Option(
        help: ArgumentHelp(
            "Background of the text: a dark or light box, or none, with an outline. Default: dark.",
            valueName: "BOX"))
    var overlayBox: Overlay.Box?

    @Option(
        help: ArgumentHelp(
            "Use a TrueType or OpenType font, which may have other characters than Latin-1.",
            valueName: "FILE"), completion: .file(extensions: ["ttf", "otf", "ttc"]),
        transform: PlainValue.text("expected a font file's name"))
    var overlayFont: String?

    var framing: Framing {
        var framing = Framing()
        (framing.crop, framing.rotation, framing.flip, framing.scale) = (crop, rotate, flip, scale)
        return framing
    }

    /// The size of the pictures to encode; nil if unknown.
    /// - Parameter source: the size of the camera's pictures; nil if unknown.
    func size(of source: PictureSize?) -> PictureSize? {
        guard let source else { return scale }
        // A camera may grant another size than the requested one, into which the part may fit.
        return (try? framing.size(of: source)) ?? scale
    }

    /// The treatment of a camera's pictures.
    /// - Parameters:
    ///   - privacy: the parts to hide; nil for none.
    ///   - isUTC: whether the text has UTC instead of local time.
    func treatment(
        hiding privacy: PrivacyMask?, camera: String, isUTC: Bool, leavesThumbnails: Bool
    ) -> PictureTreatment {
        var treatment = PictureTreatment()
        treatment.privacy = privacy
        treatment.framing = framing
        treatment.leavesThumbnails = leavesThumbnails
        guard let overlay else { return treatment }
        var drawn = Overlay(overlay)
        drawn.place = overlayPlace ?? drawn.place
        drawn.box = overlayBox ?? drawn.box
        (drawn.height, drawn.font, drawn.camera, drawn.isUTC) = (overlaySize, overlayFont, camera, isUTC)
        treatment.overlay = drawn
        return treatment
    }

    /// The given options that apply to the text.
    var overlayDetails: [String] {
        [
            overlayPlace.map { _ in "--overlay-place" }, overlaySize.map { _ in "--overlay-size" },
            overlayBox.map { _ in "--overlay-box" }, overlayFont.map { _ in "--overlay-font" },
        ].compactMap { $0 }
    }

    /// The given options that change pictures.
    var given: [String] {
        [
            crop.map { _ in "--crop" }, rotate.map { _ in "--rotate" }, flip.map { _ in "--flip" },
            scale.map { _ in "--scale" }, overlay.map { _ in "--overlay" },
        ].compactMap { $0 }
    }
}

extension CropRectangle: ExplainedArgument {
    public static let requirement = "expected a size and a place in pixels, as in 640x480+320+120"

    /// `640x480+320+120`
    public init?(argument: String) { self.init(argument) }
}

extension Rotation: ExplainedArgument {
    public static let requirement = "expected 90, 180 or 270"

    public init?(argument: String) {
        guard argument.first != "+", let degrees = Int(argument) else { return nil }
        self.init(rawValue: degrees)
    }
}

extension Flip: ExplainedArgument {
    public static let requirement = "expected h or v"

    public init?(argument: String) { self.init(rawValue: argument) }
}

extension Overlay.Place: ExpressibleByArgument {}
extension Overlay.Box: ExpressibleByArgument {}

extension OverlayText {
    /// Reads a text, or says why it cannot be drawn.
    static let read: @Sendable (String) throws -> OverlayText = { text in
        do throws(OverlayText.Problem) { return try OverlayText(text) } catch {
            throw ValidationError("\(error)")
        }
    }
}
