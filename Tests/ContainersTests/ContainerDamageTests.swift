import Bitstream
import CamPlatform
import Glibc
import TestSupport
import Testing

@testable import Containers

/// Damage to the structure of a container: all pictures are read, or the damage is reported.
///
/// Some damage cannot be noticed: a time, an edit list that seems to leave pictures out, a picture that is marked as
/// another track's, a picture's content, which has no checksum, and a transport stream's flag that makes such content a
/// part of a packet's header.
@Suite struct ContainerDamageTests {
    private let folder = TemporaryFolder()

    @Test("tables that list more than any integer holds")
    func immenseTables() throws {
        func box(_ kind: String, _ content: [UInt8]...) -> [UInt8] {
            let content = content.flatMap { $0 }
            return words(UInt32(content.count + 8)) + Array(kind.utf8) + content
        }
        func words(_ values: UInt32...) -> [UInt8] {
            values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        }
        let most = UInt32.max
        let table = box(
            "stbl", box("stsz", words(0, most, most)), box("stts", words(0, 2, most, 1, most, 1)),
            box("stsc", words(0, 2, 0, most, 1, 0, most, 1)), box("stco", words(0, most)))
        let media = box(
            "mdia", box("mdhd", words(0, 0, 0, 1000, 0, 0)), box("hdlr", words(0, 0, 0x7669_6465, 0, 0, 0)),
            box("minf", table))
        let track = box("trak", box("tkhd", words(0, 0, 0, 1, 0, 0)), media)
        let movie = box("moov", track, box("mvex", box("trex", words(0, 1, 1, 0, most, 0))))
        let run = box(
            "traf", box("tfhd", words(0, 1)), box("trun", words(0, most)), box("trun", words(0, most)))
        let bytes = box("ftyp", Array("isom".utf8)) + movie + box("moof", run) + box("mdat", words(0))
        folder.write("immense.mp4", bytes)
        let file = open(folder.path("immense.mp4"), O_RDONLY)
        defer { close(file) }
        let samples = MP4Samples(of: file, upTo: Int64(bytes.count))
        #expect(samples.damage == "its tables disagree on the number of pictures")
        #expect(samples.pictureCount == 3 * Int(most))
    }

    private func write(_ stream: CodedStream, _ format: ContainerFormat, isFinished: Bool = false) throws
        -> [UInt8]
    {
        let path = folder.path("in.\(format.rawValue)")
        let sink = try ContainerSink(
            path: path, format: format, overwrite: true, stream: stream.description,
            cancellation: try #require(CancellationFlag()), isFinished: isFinished)
        for unit in stream.units { try sink.write(unit) }
        try sink.finish()
        return try #require(contentOfFile(path))
    }

    /// Whether reading reports damage or is refused, or delivers all pictures.
    private func isTold(_ bytes: [UInt8], of stream: CodedStream) throws -> Bool {
        folder.write("damaged", bytes)
        do throws(InputError) {
            let reader = try ContainerReader(path: folder.path("damaged"))
            var pictures = stream.units[...]
            var isWhole = true
            while let packet = try reader.next() {
                if packet.problem != nil { return true }
                guard packet.isPicture, let unit = pictures.popFirst() else { continue }
                isWhole = isWhole && reader.bytes.suffix(unit.count).elementsEqual(unit.allBytes)
            }
            return isWhole && pictures.isEmpty
        } catch {
            return true
        }
    }

    /// The places of a file that contain no NAL unit.
    private func structure(of bytes: [UInt8], _ stream: CodedStream, _ format: ContainerFormat) -> [Int] {
        guard format != .transportStream else { return bytes.indices.filter { isHeader($0, in: bytes) } }
        var (places, end) = ([Int](), 0)
        for unit in stream.units {
            let content = Array(unit.allBytes)
            for nalUnit in unit.units {
                guard let place = firstPlace(of: Array(content[nalUnit.bytes]), in: bytes[end...]) else {
                    continue
                }
                places += end..<place
                end = place + nalUnit.bytes.count
            }
        }
        return places + (end..<bytes.count)
    }

    /// Whether a byte of a transport stream belongs to a packet's header, or to the header of a picture but for its
    /// times.
    private func isHeader(_ place: Int, in bytes: [UInt8]) -> Bool {
        let packet = Array(bytes[(place / 188 * 188)...].prefix(188))
        let end = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
        let isVideo = Int(packet[1] & 0x1F) << 8 | Int(packet[2]) == 0x100
        return place % 188 < end + (isVideo && packet[1] & 0x40 != 0 ? 9 : 0)
    }

    private func firstPlace(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (bytes.startIndex...bytes.endIndex - pattern.count).first { start in
            bytes[start] == pattern[0] && bytes[start...].starts(with: pattern)
        }
    }

    @Test(
        "flipped bits of the structure lose no picture in silence",
        arguments: ContainerFormat.allCases,
        [false, true])
    func flipped(format: ContainerFormat, isFinished: Bool) throws {
        let stream = try CodedStream(.h264, frames: 30)
        let whole = try write(stream, format, isFinished: isFinished)
        #expect(try isTold(whole, of: stream))
        let structure = structure(of: whole, stream, format)
        try #require(structure.count > 300)
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<400 {
            var bytes = whole
            let place = try #require(structure.randomElement(using: &generator))
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            #expect(
                try isTold(bytes, of: stream) || isExcused(place, in: whole, format),
                "byte \(place): \(whole[place]) became \(bytes[place])")
        }
    }

    /// Whether damage at a place cannot be noticed.
    private func isExcused(_ place: Int, in bytes: [UInt8], _ format: ContainerFormat) -> Bool {
        guard format == .mp4 else { return format == .transportStream && place % 188 == 3 }
        return ["elst", "edts"].contains { kind in
            firstPlace(of: Array(kind.utf8), in: bytes[...]).map { ($0 - 4..<$0 + 32).contains(place) }
                ?? false
        }
    }

    @Test(
        "parts of a fragment that became free space are damage",
        arguments: ["moof", "traf", "trun", "tfhd", "mfhd"])
    func freeSpace(kind: String) throws {
        let stream = try CodedStream(.h264)
        let whole = try write(stream, .mp4)
        let places = whole.indices.filter { whole[$0...].starts(with: kind.utf8) }
        try #require(places.count > 3)
        for place in places {
            #expect(
                try isTold(Array(whole[..<place]) + "free".utf8 + whole[(place + 4)...], of: stream),
                "at \(place)")
        }
    }
}
