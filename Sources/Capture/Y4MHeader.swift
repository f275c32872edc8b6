import CamPictures

/// The first line of a YUV4MPEG2 file.
struct Y4MHeader {
    let format: PictureFormat

    /// A file cannot be changed: requesting another size or format is an error. Another rate replaces the
    /// file's.
    init(_ line: String, request: CaptureRequest, path: String) throws(CaptureError) {
        func bad(_ detail: String) -> CaptureError { CaptureError(.badFile(detail), device: path) }
        let fields = line.split(separator: " ")
        guard fields.first == "YUV4MPEG2" else {
            throw bad("not a YUV4MPEG2 file, as made by 'ffmpeg -i VIDEO -pix_fmt yuv420p out.y4m'")
        }
        var (width, height) = (0, 0)
        var rate = FrameRate(25)
        var chroma: Substring = "420jpeg"
        var interlacing: Substring = "p"
        var aspect: PixelAspect?
        var range = ColorEncoding.Range.limited
        for field in fields.dropFirst() {
            let value = field.dropFirst()
            switch field.first {
            case "W": width = Int(value) ?? 0
            case "H": height = Int(value) ?? 0
            case "F": rate = Self.rate(value)
            case "C": chroma = value
            case "I": interlacing = value
            case "A": aspect = Self.aspect(value)
            case "X" where value == "COLORRANGE=FULL": range = .full
            default: break
            }
        }
        guard let size = PictureSize(width, height) else {
            throw bad("its size of \(width)x\(height) is outside 1 to \(PictureSize.maximumSide)")
        }
        guard let rate else { throw bad("its frame rate is not a positive fraction") }
        if let wanted = request.size, wanted != size {
            throw CaptureError(
                .unsupported("the file's pictures are \(size); leave out --size"), device: path)
        }
        guard let pixelFormat = Self.pixelFormat(chroma) else {
            throw bad("its format 'C\(chroma)' is not supported; convert it to 8-bit 4:2:0, 4:2:2 or 4:4:4")
        }
        if let wanted = request.pixelFormat, wanted != pixelFormat {
            throw CaptureError(
                .unsupported("the file's format is \(pixelFormat); leave out --format"), device: path)
        }
        let color = ColorEncoding(range: range, matrix: height >= 720 ? .bt709 : .bt601)
        guard
            let format = PictureFormat(
                pixelFormat, size: size, frameRate: request.frameRate ?? rate, color: color,
                chromaSiting: Self.chromaSiting(chroma), pixelAspect: aspect,
                isInterlaced: !["p", "?"].contains(interlacing))
        else { throw bad("its pictures do not fit into memory") }
        self.format = format
    }

    /// `30:1`; 0:0 means unknown, for which 25 is used.
    private static func rate(_ text: Substring) -> FrameRate? {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        return parts == [0, 0] ? FrameRate(25) : FrameRate(parts[0], parts[1])
    }

    /// `10:11`; 0:0 means unknown.
    private static func aspect(_ text: Substring) -> PixelAspect? {
        let parts = text.split(separator: ":").compactMap { Int($0) }
        return parts.count == 2 ? PixelAspect(parts[0], parts[1]) : nil
    }

    /// Nil means the pixel format's default.
    private static func chromaSiting(_ chroma: Substring) -> ChromaSiting? {
        switch chroma {
        case "420", "420jpeg": .center
        case "420paldv": .topLeft
        default: nil
        }
    }

    /// The supported pixel formats.
    static let pixelFormats: [PixelFormat] = [.yuv420, .yuv422Planar, .yuv444Planar, .grey]

    private static func pixelFormat(_ chroma: Substring) -> PixelFormat? {
        switch chroma {
        case "420", "420jpeg", "420mpeg2", "420paldv": .yuv420
        case "422": .yuv422Planar
        case "444": .yuv444Planar
        case "mono": .grey
        default: nil
        }
    }
}
