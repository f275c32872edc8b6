import CTestJPEG
import CYUV
import Glibc
import CamPictures
import Testing

@testable import Encoder

@Suite("Baseline JPEG for a GPU")
struct BaselineJPEGTests {
    private static let size = PictureSize(70, 42)!
    private static let room = PictureSize(80, 48)!

    private static func jpeg(
        horizontal: Int32 = 2, vertical: Int32 = 2, components: Int32 = 3, restartRows: Int32 = 0,
        progressive: Bool = false
    ) -> [UInt8] {
        let samples = (0..<size.area * Int(components)).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 211) }
        let options = test_jpeg_options(
            width: Int32(size.width), height: Int32(size.height), components: components,
            horizontal: horizontal, vertical: vertical, restart_rows: restartRows,
            progressive: progressive ? 1 : 0, rgb: 0)
        var count = 0
        let encoded = test_jpeg_encode(samples, options, &count)!
        defer { free(encoded) }
        return Array(UnsafeBufferPointer(start: encoded, count: count))
    }

    private static func read(_ bytes: [UInt8]) throws(BaselineJPEG.Unsuitability) -> BaselineJPEG {
        let result = bytes.withUnsafeBytes { bytes -> Result<BaselineJPEG, BaselineJPEG.Unsuitability> in
            do throws(BaselineJPEG.Unsuitability) {
                return .success(try BaselineJPEG(bytes, size: size, room: room))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Whether libjpeg-turbo reads its headers and tables.
    private static func isAcceptedByLibjpeg(_ bytes: [UInt8]) -> Bool {
        let decoder = cyuv_jpeg_create()
        defer { cyuv_jpeg_destroy(decoder) }
        var layout = cyuv_jpeg_layout()
        return cyuv_jpeg_begin(
            decoder, bytes, bytes.count, Int32(size.width), Int32(size.height), &layout) == CYUV_JPEG_OK
    }

    @Test("4:2:0 and 4:2:2, with restart markers and without", arguments: [Int32(1), 2], [Int32(0), 1])
    func sound(vertical: Int32, restartRows: Int32) throws {
        let bytes = Self.jpeg(vertical: vertical, restartRows: restartRows)
        let picture = try Self.read(bytes)
        #expect(picture.sampling == (vertical == 2 ? .c420 : .c422))
        #expect((picture.width, picture.height) == (70, 42))
        #expect(picture.unitCount == 5 * (vertical == 2 ? 3 : 6))
        #expect(picture.restartInterval == 5 * Int(restartRows))
        #expect(Array(bytes[picture.scan.upperBound...]) == [0xFF, 0xD9])
        #expect(picture.components[0].horizontalFactor == 2)
        #expect(picture.components[0].verticalFactor == UInt8(vertical))
    }

    @Test("4:2:2 may have MCUs of 16 rows, as ffmpeg writes it")
    func tallUnits() throws {
        var bytes = Self.jpeg(vertical: 1)
        let frame = bytes.withUnsafeBytes {
            JPEGSegments($0).first { $0.isFrameHeader }!.parameters.lowerBound
        }
        for (index, factors) in [UInt8(0x22), 0x12, 0x12].enumerated() {
            bytes[frame + 7 + 3 * index] = factors
        }
        let picture = try Self.read(bytes)
        #expect(picture.sampling == .c422)
        #expect(picture.unitCount == 5 * 3)
        #expect(picture.coveredHeight == 48)
    }

    @Test("A kind of JPEG that hardware does not decode is not called damaged")
    func kinds() {
        for bytes in [
            Self.jpeg(progressive: true), Self.jpeg(components: 1), Self.jpeg(horizontal: 1, vertical: 1),
            Self.jpeg(horizontal: 4, vertical: 1), Self.jpeg(horizontal: 1, vertical: 2),
        ] {
            guard
                case .failure(.kind) = Result(catching: { () throws(BaselineJPEG.Unsuitability) in
                    try Self.read(bytes)
                })
            else {
                Issue.record("taken, or called damaged")
                continue
            }
        }
    }

    @Test("Cut off anywhere, it is damaged")
    func truncated() {
        let bytes = Self.jpeg(restartRows: 1)
        for count in 0..<bytes.count {
            #expect(throws: BaselineJPEG.Unsuitability.self) { try Self.read(Array(bytes.prefix(count))) }
        }
    }

    @Test("What follows the end does not matter")
    func trailing() throws {
        let bytes = Self.jpeg()
        let picture = try Self.read(bytes + [0, 0xFF, 0xD8, 0xFF] + Array(repeating: 0xFF, count: 100))
        #expect(picture.scan.upperBound == bytes.count - 2)
    }

    @Test("Missing Huffman tables are the standard ones")
    func standardTables() throws {
        var bytes = Self.jpeg()
        let whole = try Self.read(bytes)
        let tables = bytes.withUnsafeBytes { JPEGSegments($0).filter { $0.marker == 0xC4 }.map(\.bytes) }
        for range in tables.reversed() { bytes.removeSubrange(range) }
        let picture = try Self.read(bytes)
        for number in 0..<2 {
            for index in 0..<16 {
                #expect(picture.huffman.dc[number].counts[index] == whole.huffman.dc[number].counts[index])
                #expect(picture.huffman.ac[number].counts[index] == whole.huffman.ac[number].counts[index])
            }
            for index in 0..<162 {
                #expect(picture.huffman.ac[number].values[index] == whole.huffman.ac[number].values[index])
            }
        }
    }

    @Test("A Huffman table with more codes than there are bits for is damage")
    func tooManyCodes() throws {
        var bytes = Self.jpeg()
        let table = bytes.withUnsafeBytes {
            JPEGSegments($0).first { $0.marker == 0xC4 }!.parameters.lowerBound
        }
        // Two codes of one bit are all that there are; the number of values stays.
        #expect(Array(bytes[table...table + 3]) == [0, 0, 1, 5])
        bytes.replaceSubrange(table...table + 3, with: [0, 2, 1, 3])
        #expect(throws: BaselineJPEG.Unsuitability.damaged("a Huffman table has more codes than fit")) {
            try Self.read(bytes)
        }
    }

    @Test("A missing or exchanged restart marker is damage")
    func restarts() throws {
        let bytes = Self.jpeg(restartRows: 1)
        let picture = try Self.read(bytes)
        let places = picture.scan.dropLast().filter {
            bytes[$0] == 0xFF && (0xD0...0xD7).contains(bytes[$0 + 1])
        }
        #expect(places.count == 2)
        var exchanged = bytes
        exchanged[places[0] + 1] = 0xD1
        #expect(throws: BaselineJPEG.Unsuitability.self) { try Self.read(exchanged) }
        var missing = bytes
        missing.removeSubrange(places[1]...places[1] + 1)
        #expect(throws: BaselineJPEG.Unsuitability.self) { try Self.read(missing) }
    }

    @Test(
        "A picture that is larger than its surface, or of another size, is not for the GPU",
        arguments: [
            (70, 1000), (1000, 42), (86, 42), (70, 58), (0, 42), (69, 42), (65535, 65535),
        ])
    func lyingSizes(width: Int, height: Int) throws {
        var bytes = Self.jpeg()
        let frame = bytes.withUnsafeBytes {
            JPEGSegments($0).first { $0.isFrameHeader }!.parameters.lowerBound
        }
        (bytes[frame + 1], bytes[frame + 2]) = (UInt8(height >> 8), UInt8(height & 255))
        (bytes[frame + 3], bytes[frame + 4]) = (UInt8(width >> 8), UInt8(width & 255))
        #expect(throws: BaselineJPEG.Unsuitability.self) { try Self.read(bytes) }
    }

    @Test("Whatever a changed byte makes of the headers: what is taken, libjpeg-turbo takes too")
    func hostileHeaders() throws {
        for vertical in [Int32(1), 2] {
            let bytes = Self.jpeg(vertical: vertical, restartRows: 1)
            let header = try Self.read(bytes).scan.lowerBound
            var taken = 0
            for place in 2..<header {
                for value in [0, 1, 2, 3, 4, 0x0C, 0x10, 0x11, 0x12, 0x7F, 0x80, 0xA3, 0xFE, 0xFF] as [UInt8]
                where value != bytes[place] {
                    var changed = bytes
                    changed[place] = value
                    guard let picture = try? Self.read(changed) else { continue }
                    taken += 1
                    #expect(picture.scan.upperBound <= changed.count)
                    // The bytes themselves would fill the log.
                    let isAccepted = Self.isAcceptedByLibjpeg(changed)
                    #expect(isAccepted, "byte \(place) is \(value)")
                }
            }
            #expect(taken > 100)
        }
    }
}
