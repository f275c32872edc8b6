import ArgumentParser
import CamCommandLine
import CamConversion
import CamPictures
import CamRecorder
import Containers

/// Options that hide parts of the camera's pictures.
struct PrivacyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Hide parts of the camera's picture from all outputs, snapshots and --on-motion: 200x120+0+40,64x64+500+0. Before --crop, --rotate and --scale.",
            valueName: "WxH+X+Y[,...]"), transform: HiddenParts.read)
    var privacy: HiddenParts?

    @Option(
        help: ArgumentHelp(
            "A PGM or PNG picture with the proportions of the camera's: where it is black, the picture is hidden.",
            valueName: "FILE"),
        completion: .file(extensions: ["pgm", "png"]),
        transform: PlainValue.text("expected a PGM or PNG picture's name"))
    var privacyMask: String?

    @Option(
        help: ArgumentHelp(
            "What is shown in place of what is hidden: black, or a coarse mosaic. Default: black.",
            valueName: "black|mosaic"))
    var privacyFill: PrivacyMask.Fill?

    /// What is hidden; nil if nothing is.
    /// - Throws: if the mask's file cannot be used.
    func mask() throws(InputError) -> PrivacyMask? {
        guard privacy != nil || privacyMask != nil else { return nil }
        var shape: PrivacyMask.Shape?
        if let privacyMask {
            shape = PrivacyMask.Shape(try GrayPicture(path: privacyMask), name: privacyMask)
            guard shape != nil else {
                throw InputError(
                    .malformed("it hides nothing; paint the parts to hide black"), input: privacyMask)
            }
        }
        return PrivacyMask(
            rectangles: privacy?.rectangles ?? [], shape: shape, fill: privacyFill ?? .black)
    }

    /// The given options that hide something.
    var given: [String] {
        [privacy.map { _ in "--privacy" }, privacyMask.map { _ in "--privacy-mask" }].compactMap { $0 }
    }

    /// Why the options are refused, with the next step; nil if they are valid.
    /// - Parameter size: of the source's pictures; nil if not known yet.
    func refusal(within size: PictureSize?) -> String? {
        if privacyFill != nil, given.isEmpty {
            return "--privacy-fill needs --privacy or --privacy-mask, which say what is hidden; add one"
        }
        guard let size, let privacy else { return nil }
        do throws(PictureRequestError) {
            try PrivacyMask(rectangles: privacy.rectangles).refuse(for: size)
        } catch { return error.description }
        return nil
    }
}

/// The rectangles of one `--privacy`.
struct HiddenParts: ExplainedArgument, Sendable, Hashable {
    static let requirement =
        "expected sizes and places in pixels, with commas in between, as in 200x120+0+40,64x64+500+0"
    /// More are a matter for a mask in a file.
    private static let most = 64

    let rectangles: [CropRectangle]

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        let rectangles = parts.prefix(Self.most + 1).compactMap { CropRectangle($0) }
        guard rectangles.count == parts.count, rectangles.count <= Self.most else { return nil }
        self.rectangles = rectangles
    }
}

extension PrivacyMask.Fill: ExpressibleByArgument {}
