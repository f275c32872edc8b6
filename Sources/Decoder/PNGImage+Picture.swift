import CamConversion

extension PNGImage {
    /// Returns the file's bytes: the picture as RGB, at its own size.
    public static func encode(_ picture: consuming DecodedPicture) throws(DecoderError) -> [UInt8] {
        let image = try PictureConverter(to: .rgb24).convert(picture)
        do throws(ImageError) { return try encode(image.frame) } catch { throw DecoderError(.image(error)) }
    }
}
