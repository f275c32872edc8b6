import CamPictures
import Testing
import CamPlatform

@testable import CamConversion

/// What an image says about itself.
@Suite struct ExifMetadataTests {
    private func metadata(
        at time: WallTime = WallTime(nanoseconds: 1_764_115_445_067_000_000), camera: String = "HD Webcam",
        exposure: Exposure? = nil
    ) -> ExifMetadata {
        ExifMetadata(
            time: time, isUTC: true, camera: camera, program: "camrec 0.1.0", size: PictureSize(1280, 720)!,
            exposure: exposure)
    }

    @Test("the time has milliseconds and its distance from UTC")
    func time() throws {
        let fields = try TIFFReader(metadata().tiff).fields()
        #expect(fields[0x9003]?.text == "2025:11:26 00:04:05")
        #expect(fields[0x9291]?.text == "067")
        #expect(fields[0x9011]?.text == "+00:00")
        #expect(fields[0x0132]?.text == "2025:11:26 00:04:05")
    }

    @Test("camera, program and size are there")
    func facts() throws {
        let fields = try TIFFReader(metadata().tiff).fields()
        #expect(fields[0x0110]?.text == "HD Webcam")
        #expect(fields[0x0131]?.text == "camrec 0.1.0")
        #expect(fields[0xA002]?.number == 1280)
        #expect(fields[0xA003]?.number == 720)
    }

    @Test("exposure is there only if it is known")
    func exposure() throws {
        let known = Exposure(time: .microseconds(15_600), sensitivity: 400)
        let fields = try TIFFReader(metadata(exposure: known).tiff).fields()
        #expect(fields[0x829A]?.ratio == 0.0156)
        #expect(fields[0x8827]?.number == 400)
        let unknown = try TIFFReader(metadata().tiff).fields()
        #expect(unknown[0x829A] == nil && unknown[0x8827] == nil)
    }

    @Test(
        "a hostile name of a camera breaks nothing",
        arguments: ["", "a\u{0}b\n\u{7F}", String(repeating: "x", count: 70_000)])
    func hostile(name: String) throws {
        let metadata = metadata(camera: name)
        let text = try #require(try TIFFReader(metadata.tiff).fields()[0x0110]?.text)
        #expect(text.utf8.count <= 256 && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F })
        #expect(metadata.jpegSegment.count < 1000)
    }

    @Test("times before 1970 are times, too")
    func early() throws {
        let fields = try TIFFReader(metadata(at: WallTime(nanoseconds: -1_000_000)).tiff).fields()
        #expect(fields[0x9003]?.text == "1969:12:31 23:59:59")
        #expect(fields[0x9291]?.text == "999")
    }
}

/// Reads the fields of a little-endian TIFF file, and of the directory that it refers to.
struct TIFFReader {
    struct Field {
        let type: Int
        let value: [UInt8]

        var text: String? {
            type == 2 && value.last == 0 ? String(decoding: value.dropLast(), as: UTF8.self) : nil
        }
        var number: Int? { [3, 4].contains(type) ? littleEndian(value) : nil }
        var ratio: Double? {
            type == 5 ? Double(littleEndian(value.prefix(4))) / Double(littleEndian(value.suffix(4))) : nil
        }

        private func littleEndian(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
            bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
        }
    }

    private struct Flaw: Error {}

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: [0x49, 0x49, 42, 0]) else { throw Flaw() }
        self.bytes = bytes
    }

    func fields() throws -> [Int: Field] {
        let first = try directory(at: number(4, 4))
        guard let pointer = first[0x8769]?.number else { throw Flaw() }
        return first.merging(try directory(at: pointer)) { one, _ in one }
    }

    private func directory(at place: Int) throws -> [Int: Field] {
        var fields: [Int: Field] = [:]
        var lastTag = -1
        for entry in 0..<(try number(place, 2)) {
            let start = place + 2 + 12 * entry
            let (tag, type) = (try number(start, 2), try number(start + 2, 2))
            // Readers may search for a tag in their order.
            guard tag > lastTag else { throw Flaw() }
            lastTag = tag
            let size = try number(start + 4, 4) * [1, 1, 1, 2, 4, 8, 1, 1][type]
            let where_ = size > 4 ? try number(start + 8, 4) : start + 8
            guard where_ + size <= bytes.count, where_ % 2 == 0 else { throw Flaw() }
            fields[tag] = Field(type: type, value: Array(bytes[where_..<where_ + size]))
        }
        guard try number(place + 2 + 12 * fields.count, 4) == 0 else { throw Flaw() }
        return fields
    }

    private func number(_ place: Int, _ length: Int) throws -> Int {
        guard place >= 0, place + length <= bytes.count else { throw Flaw() }
        return bytes[place..<place + length].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
