import CamPictures

extension PixelFormat {
    /// Every uncompressed format that camrec reads itself, in one memory plane or in several.
    public static let raw: [PixelFormat] = [
        .nv12, .nv21, .nv12MultiPlanar, .nv21MultiPlanar, .nv16, .nv61, .nv16MultiPlanar, .nv61MultiPlanar,
        .nv24, .nv42, .yuv420, .yvu420, .yuv420MultiPlanar,
        .yvu420MultiPlanar, .yuv422Planar, .yuv444Planar, .yuyv, .uyvy, .yvyu, .rgb24, .bgr24, .bgrx32,
        .xrgb32, .grey,
    ]

    /// Those in one memory plane.
    public static let inOnePiece = raw.filter { $0.memoryPlaneCount == 1 }

    /// The format of its pictures, at 30 frames a second; for valid sizes and strides.
    public func layout(_ width: Int, _ height: Int, strides: [Int]? = nil) -> PictureFormat {
        PictureFormat(
            self, size: PictureSize(width, height)!, frameRate: FrameRate(30)!,
            color: ColorEncoding(range: .limited, matrix: .bt601), strides: strides)!
    }
}
