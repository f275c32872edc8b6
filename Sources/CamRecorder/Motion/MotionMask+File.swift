import Decoder
import CamPlatform
import CamConversion
import Output
import CamPictures

extension MotionMask {
    /// 64 MiB: more than any picture of a camera takes.
    private static let mostBytes = 64 << 20

    /// Reads a PGM or PNG picture.
    /// - Throws: if it cannot be read, is no such picture, or ignores everything.
    public init(path: String) throws(InputError) {
        let bytes = try Self.read(path)
        let mask: MotionMask?
        do throws(MotionMaskError) { mask = try Self.picture(bytes) } catch {
            throw InputError(.malformed(error.description), input: path)
        }
        guard let mask else {
            throw InputError(
                .malformed("not a PGM or PNG picture; save the mask as one of these"), input: path)
        }
        guard !mask.isEmpty else {
            throw InputError(
                .malformed("it ignores the whole picture; paint what is to be watched white"), input: path)
        }
        self = mask
    }

    /// Nil if it is another file.
    private static func picture(_ bytes: [UInt8]) throws(MotionMaskError) -> MotionMask? {
        if let mask = try MotionMask(pgm: bytes) { return mask }
        return try png(bytes)
    }

    private static func png(_ bytes: [UInt8]) throws(MotionMaskError) -> MotionMask? {
        guard PNGImage.isPNG(bytes) else { return nil }
        do throws(DecoderError) {
            let image = try PNGImage.decodeLuma(bytes)
            return MotionMask(size: image.size, levels: image.levels)
        } catch { throw .undecodable(error.description) }
    }

    private static func read(_ path: String) throws(InputError) -> [UInt8] {
        do throws(WholeFile.Failure) { return try WholeFile.read(path, atMost: mostBytes) } catch {
            switch error {
            case .system(let code): throw InputError(.notOpened(errno: code), input: path)
            case .notRegular:
                throw InputError(.malformed("not a regular file; name a PGM or PNG picture"), input: path)
            case .tooLong:
                throw InputError(.malformed("larger than 64 MiB; make the mask smaller"), input: path)
            }
        }
    }
}
