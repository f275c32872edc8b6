import CamPlatform
import Glibc
import CamConversion
import CamPictures
import TestSupport
import Testing

@testable import CamRecorder
import Containers

/// Masks from files, which anyone may have written.
@Suite struct MotionMaskFileTests {
    /// Two grey pixels, black and white: 1 row of 8 bits, stored without compression.
    private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 2, 0,
        0, 0, 1, 8, 0, 0, 0, 0, 0xd1, 0x49, 0x20, 0x56, 0, 0, 0, 14, 0x49, 0x44, 0x41, 0x54, 0x78, 0x01,
        0x01, 3, 0, 0xfc, 0xff, 0, 0, 0xff, 0x01, 0x02, 0x01, 0x00, 0xb7, 0x01, 0x2e, 0xf7, 0, 0, 0, 0,
        0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ]

    private func error(_ bytes: [UInt8]) throws -> InputError {
        let folder = TemporaryFolder()
        return try #require(throws: InputError.self) { try MotionMask(path: try write(bytes, in: folder)) }
    }

    private func write(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> String {
        let path = folder.path + "/mask"
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        return path
    }

    @Test("reads PGM and PNG")
    func pictures() throws {
        let folder = TemporaryFolder()
        let size = try #require(PictureSize(2, 1))
        let wanted = MotionMask(try #require(GrayPicture(size: size, levels: [0, 255])))
        #expect(try MotionMask(path: try write(Self.png, in: folder)) == wanted)
        #expect(try MotionMask(path: try write(Array("P2 2 1 1 0 1".utf8), in: folder)) == wanted)
    }

    @Test("says what is wrong with a file")
    func damage() throws {
        #expect(try error([]).description.contains("not a PGM or PNG picture; save"))
        #expect(
            try error(Array("P5 2 1 255\n.".utf8)).description.contains("fewer pixels than its header says"))
        #expect(
            try error(Array("P2 2 1 255 0 9".utf8)).description.contains("ignores the whole picture; paint"))
        #expect(try error(Array(Self.png[..<20])).description.contains("its header is damaged"))
        #expect(try error(Array(Self.png[..<50])).description.contains("cannot read the PNG picture"))
        // Sides of four thousand million pixels.
        var huge = Self.png
        huge.replaceSubrange(16..<24, with: repeatElement(0xff, count: 8))
        #expect(try error(huge).description.contains("64 million pixels"))
    }

    @Test("crashes on no damaged PNG")
    func hostile() throws {
        let folder = TemporaryFolder()
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            var bytes = Self.png
            for _ in 0..<3 {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            _ = try? MotionMask(path: try write(bytes, in: folder))
        }
    }

    @Test("refuses what is not a file, and files that are too large")
    func places() throws {
        let folder = TemporaryFolder()
        func kind(_ path: String) throws -> InputError.Kind {
            try #require(throws: InputError.self) { try MotionMask(path: path) }.kind
        }
        #expect(try kind(folder.path + "/none") == .notOpened(errno: ENOENT))
        let another = InputError.Kind.malformed("not a regular file; name a PGM or PNG picture")
        #expect(try kind(folder.path) == another)
        #expect(try kind("/dev/zero") == another)
        let path = try write([0], in: folder)
        #expect(truncate(path, 65 << 20) == 0)
        #expect(try kind(path) == .malformed("larger than 64 MiB; make the mask smaller"))
    }
}
