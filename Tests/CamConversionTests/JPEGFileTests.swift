import CamPictures
import Testing
import CamPlatform

@testable import CamConversion

/// A camera's JPEG becomes a file.
@Suite struct JPEGFileTests {
    private let start: [UInt8] = [0xFF, 0xD8]
    private let end: [UInt8] = [0xFF, 0xD9]
    private let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]
    /// Coded samples, with a stuffed byte, a restart and fill bytes in them.
    private let samples: [UInt8] = [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4, 0xFF, 0xFF, 0xD1, 5]
    private let size = PictureSize(64, 48)!

    private func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
    }

    private func frame(_ width: Int = 64, _ height: Int = 48, marker: UInt8 = 0xC0) -> [UInt8] {
        let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
        return segment(marker, [8] + sides + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
    }

    private var metadata: ExifMetadata {
        ExifMetadata(
            time: WallTime(seconds: 0), isUTC: true, camera: "", program: "", size: size, exposure: nil)
    }

    private func file(_ picture: [UInt8], size: PictureSize? = nil) throws -> [UInt8] {
        try picture.withUnsafeBytes {
            try JPEGFile.standard($0, size: size ?? self.size, metadata: metadata)
        }
    }

    /// The bytes after the start marker and the metadata.
    private func rest(_ file: [UInt8]) -> [UInt8] {
        #expect(file.starts(with: start + metadata.jpegSegment))
        return Array(file.dropFirst(2 + metadata.jpegSegment.count))
    }

    private func tables(in file: [UInt8]) -> [UInt8] {
        file.withUnsafeBytes { file in
            JPEGSegments(file).filter { $0.marker == 0xC4 }
                .flatMap { StandardHuffmanTables.destinations(in: file[$0.parameters]) }
        }
    }

    @Test("a picture without Huffman tables gets the standard ones, before its scan")
    func bare() throws {
        let file = rest(try file(start + frame() + scan + samples + end))
        let inserted = StandardHuffmanTables.segment(without: [])
        #expect(file == frame() + inserted + scan + samples + end)
        #expect(inserted.count == 2 + 2 + 2 * (1 + 16 + 12) + 2 * (1 + 16 + 162))
    }

    @Test("a picture's own tables stay, and only those it lacks are added")
    func own() throws {
        let own = segment(0xC4, [0x00] + Array(repeating: 0, count: 15) + [2, 7, 8])
        let file = try file(start + own + frame() + scan + samples + end)
        #expect(tables(in: file) == [0x00, 0x01, 0x10, 0x11])
        let all = StandardHuffmanTables.segment(without: [])
        #expect(
            rest(try self.file(start + all + frame() + scan + samples + end)) == all + frame() + scan
                + samples + end)
    }

    @Test("what follows the end is cut off, and a missing end is added")
    func padding() throws {
        let whole = try file(start + frame() + scan + samples + end)
        let padding = Array(repeating: UInt8(0), count: 1000) + [0xFF, 0xD8, 0xFF, 0xD9]
        #expect(try file(start + frame() + scan + samples + end + padding) == whole)
        #expect(try file(start + frame() + scan + samples) == whole)
    }

    @Test("further scans and their tables belong to the picture")
    func progressive() throws {
        let coded = scan + samples + segment(0xC4, [0x10] + Array(repeating: 0, count: 16)) + scan + samples
        let file = rest(try file(start + frame(marker: 0xC2) + coded + end + [9, 9]))
        #expect(file == frame(marker: 0xC2) + coded + end, "a progressive picture has its own tables")
    }

    @Test("metadata of the camera is replaced, and a film's marks are left out")
    func foreign() throws {
        let exif = segment(0xE1, Array("Exif".utf8) + [0, 0, 1, 2, 3])
        let film = segment(0xE0, Array("AVI1".utf8) + [0, 0])
        let comment = segment(0xFE, Array("made by a camera".utf8))
        let file = rest(try file(start + film + exif + comment + frame() + scan + samples + end))
        #expect(file.starts(with: comment + frame()))
    }

    @Test(
        "rows and columns that only fill the last blocks are cut off",
        arguments: [
            (64, 48, 64, 48), (64, 40, 64, 40), (50, 48, 50, 48),
            // Another number of blocks would change what the samples mean.
            (64, 32, 64, 48), (48, 48, 64, 48),
        ])
    func cropped(width: Int, height: Int, resultWidth: Int, resultHeight: Int) throws {
        let file = rest(
            try file(start + frame() + scan + samples + end, size: PictureSize(width, height)!))
        #expect(file.starts(with: frame(resultWidth, resultHeight)))
    }

    @Test("what is no JPEG, or is cut off before its samples, is refused")
    func refused() {
        let whole = start + segment(0xFE, [1, 2, 3]) + frame() + scan
        for count in 0..<whole.count {
            #expect(throws: ImageError.notJPEG) { try file(Array(whole[..<count])) }
        }
        #expect(throws: ImageError.notJPEG) { try file(Array(repeating: 0xFF, count: 100)) }
        #expect(throws: ImageError.notJPEG) { try file(start + end) }
    }
}
