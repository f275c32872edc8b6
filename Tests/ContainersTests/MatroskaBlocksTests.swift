import Glibc
import TestSupport
import Testing
@testable import Containers

/// The pictures that a Matroska file has by its own structure.
@Suite struct MatroskaBlocksTests {
    private let folder = TemporaryFolder()

    /// An element with its size in two bytes.
    private static func element(_ identifier: [UInt8], _ content: [UInt8]) -> [UInt8] {
        identifier + [0x40 | UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private static func simpleBlock(track: UInt8 = 1, flags: UInt8 = 0, _ content: [UInt8] = [7, 7])
        -> [UInt8]
    {
        element([0xA3], [0x80 | track, 0, 0, flags] + content)
    }

    private static func track(_ number: UInt8, type: UInt8) -> [UInt8] {
        element([0xAE], element([0xD7], [number]) + element([0x83], [type]))
    }

    /// A file with a cluster whose size is unknown.
    private static func file(
        tracks: [UInt8] = track(1, type: 1) + track(2, type: 2), _ cluster: [UInt8]
    ) -> [UInt8] {
        element([0x1A, 0x45, 0xDF, 0xA3], []) + [0x18, 0x53, 0x80, 0x67, 0xFF]
            + element([0xEC], [0, 0]) + element([0x16, 0x54, 0xAE, 0x6B], tracks)
            + [0x1F, 0x43, 0xB6, 0x75, 0xFF] + element([0xE7], [0]) + cluster
    }

    private func read<Result>(_ bytes: [UInt8], _ body: (Int32) throws -> Result) throws -> Result {
        folder.write("a.mkv", bytes)
        let descriptor = open(folder.path("a.mkv"), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(descriptor >= 0)
        return try body(descriptor)
    }

    /// Where the contents of the blocks start: each block's begins with a marker of its own.
    private static func place(of marker: UInt8, in bytes: [UInt8]) -> Int64 {
        Int64(bytes.lastIndex(of: marker)! - 4)
    }

    @Test("gives up after more elements than any program writes, and does not call them damage")
    func manyElements() throws {
        let void: [UInt8] = [0xEC, 0x80]
        let few = [[UInt8]](repeating: void, count: 900).flatMap(\.self)
        let many = [[UInt8]](repeating: void, count: 10 * MatroskaBlocks.mostAllowance).flatMap(\.self)
        for (voids, isFollowed) in [(few, true), (many, false)] {
            let bytes = Self.file(
                Self.simpleBlock([0xF1]) + voids + Self.simpleBlock([5]) + Self.simpleBlock([0xF2]))
            try read(bytes) { descriptor in
                var blocks = try #require(MatroskaBlocks(of: descriptor))
                _ = blocks.skip(to: Self.place(of: 0xF1, in: bytes))
                let gap = blocks.skip(to: Self.place(of: 0xF2, in: bytes))
                #expect(gap == .init(pictureCount: isFollowed ? 1 : 0))
                #expect(blocks.rest(upTo: Int64(bytes.count)) == .init())
            }
        }
    }

    @Test("counts the pictures between two blocks, in groups and laced ones too, and no sound")
    func counts() throws {
        let bytes = Self.file(
            Self.simpleBlock([0xF1]) + Self.simpleBlock([5]) + Self.simpleBlock(track: 2, [5])
                + Self.element([0xA0], Self.element([0xA1], [0x81, 0, 0, 0, 5]) + Self.element([0xFB], [1]))
                + Self.simpleBlock(flags: 0x04, [2, 5, 5, 5]) + Self.simpleBlock([])
                + Self.simpleBlock([0xF2])
                + Self.simpleBlock([0xF3]) + Self.simpleBlock([5]))
        try read(bytes) { descriptor in
            var blocks = try #require(MatroskaBlocks(of: descriptor))
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == .init())
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == .init(pictureCount: 5))
            // Further pictures of a laced block.
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == .init())
            #expect(blocks.skip(to: Self.place(of: 0xF3, in: bytes)) == .init())
            var others = blocks
            #expect(blocks.rest(upTo: Int64(bytes.count)) == .init(pictureCount: 1))
            // A block that was not read whole is no loss.
            #expect(others.rest(upTo: Int64(bytes.count) - 1) == .init())
        }
    }

    /// Blocks of which the second may be lost, and elements that a valid file may have between them.
    private static let blocks =
        simpleBlock([0xF1]) + element([0xEC], [UInt8](repeating: 0, count: 20))
        + simpleBlock([0xF4, 7, 7, 7, 7, 7, 7])
        + element([0xBF], [1, 2, 3, 4]) + element([0x75, 0xA9], [1]) + simpleBlock([0xF2])
        + element([0xAB], [1])
        + simpleBlock([0xF3])

    @Test("an element with another name or length, and an unknown track, are damage")
    func damage() throws {
        let whole = Self.file(Self.blocks)
        let header = Int(Self.place(of: 0xF4, in: whole)) - 3
        // The name, the length, and the track. A void element has the picture that it had before.
        let changes: [(offset: Int, value: UInt8)] = [
            (0, 0), (0, 0xA7), (0, 0xEC), (0, 0x83), (0, 0xA2), (2, 1), (2, 17), (3, 0x83),
        ]
        for (offset, value) in changes {
            var bytes = whole
            bytes[header + offset] = value
            try read(bytes) { descriptor in
                var blocks = try #require(MatroskaBlocks(of: descriptor))
                #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == .init())
                let gap = blocks.skip(to: Self.place(of: 0xF2, in: bytes))
                #expect(gap.damage.map { $0 >= Int64(header) } == true, "\(value) at \(offset)")
                // Goes on from there.
                #expect(blocks.skip(to: Self.place(of: 0xF3, in: bytes)) == .init())
                #expect(blocks.rest(upTo: Int64(bytes.count)) == .init())
            }
            try read(bytes) { descriptor in
                var blocks = try #require(MatroskaBlocks(of: descriptor))
                _ = blocks.skip(to: Self.place(of: 0xF1, in: bytes))
                #expect(
                    blocks.rest(upTo: Int64(bytes.count)).damage != nil, "\(value) at \(offset), at the end")
            }
        }
    }

    @Test("a file that ends in the middle of an element is cut off, not damaged")
    func cutOff() throws {
        let bytes = Self.file(Self.blocks)
        let first = Self.place(of: 0xF1, in: bytes)
        for count in Int(first) + 5...bytes.count {
            try read(Array(bytes[..<count])) { descriptor in
                var blocks = try #require(MatroskaBlocks(of: descriptor))
                #expect(blocks.skip(to: first) == .init())
                #expect(blocks.rest(upTo: Int64(count)).damage == nil, "cut at \(count)")
            }
        }
    }

    @Test("a cluster with another name is damage, at the end of the file, too")
    func cluster() throws {
        let known = [0x1F, 0x43, 0xB6, 0x75] as [UInt8]
        let cluster = Self.element(known, Self.element([0xE7], [0]) + Self.simpleBlock([5]))
        var bytes = Self.file(Self.simpleBlock([0xF1])) + cluster
        bytes[bytes.count - cluster.count + 3] = 0x77
        try read(bytes) { descriptor in
            var blocks = try #require(MatroskaBlocks(of: descriptor))
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == .init())
            #expect(blocks.rest(upTo: Int64(bytes.count)).damage == Int64(bytes.count - cluster.count))
        }
    }

    @Test("knows nothing after reading went on elsewhere")
    func restart() throws {
        let bytes = Self.file(Self.blocks)
        try read(bytes) { descriptor in
            var blocks = try #require(MatroskaBlocks(of: descriptor))
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == .init())
            blocks.restart()
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == .init())
        }
    }

    @Test("another file is no damage, and is mentioned if nothing is read of it")
    func joint() throws {
        let file = Self.file(Self.simpleBlock([0xF1]))
        let bytes = file + Self.file(Self.simpleBlock([0xF2]))
        try read(bytes) { descriptor in
            var blocks = try #require(MatroskaBlocks(of: descriptor))
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == .init())
            var others = blocks
            #expect(others.rest(upTo: Int64(bytes.count)).joint == Int64(file.count))
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == .init(joint: Int64(file.count)))
            #expect(blocks.rest(upTo: Int64(bytes.count)) == .init())
        }
    }
}
