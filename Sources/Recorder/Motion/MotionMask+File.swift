import Decoder
import Glibc
import Images
import Motion
import Output
import Pictures

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
        // Without O_NONBLOCK, opening a pipe that has no writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw InputError(.notOpened(errno: errno), input: path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InputError(.notAFile, input: path)
        }
        guard status.st_size <= mostBytes else {
            throw InputError(.malformed("larger than 64 MiB; make the mask smaller"), input: path)
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw InputError(.readFailed(errno: errno), input: path) }
            guard result > 0 else { throw InputError(.shrunk, input: path) }
            count += result
        }
        return bytes
    }
}
