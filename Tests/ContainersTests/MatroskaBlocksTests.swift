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
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == 0)
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == 5)
            // Further pictures of a laced block.
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == 0)
            #expect(blocks.skip(to: Self.place(of: 0xF3, in: bytes)) == 0)
            #expect(blocks.rest(upTo: Int64(bytes.count)) == 1)
            // A block that was not read whole is no loss.
            #expect(blocks.rest(upTo: Int64(bytes.count) - 1) == 0)
        }
    }

    @Test("knows nothing after reading went on elsewhere, or where the structure is damaged")
    func unknown() throws {
        var bytes = Self.file(
            Self.simpleBlock([0xF1]) + Self.simpleBlock([0xF4]) + Self.simpleBlock([0xF2])
                + Self.simpleBlock([0xF3]))
        let damaged = Int(Self.place(of: 0xF4, in: bytes)) - 3
        bytes[damaged] = 0
        try read(bytes) { descriptor in
            var blocks = try #require(MatroskaBlocks(of: descriptor))
            #expect(blocks.skip(to: Self.place(of: 0xF1, in: bytes)) == 0)
            #expect(blocks.skip(to: Self.place(of: 0xF2, in: bytes)) == 0)
            #expect(blocks.skip(to: Self.place(of: 0xF3, in: bytes)) == 0)
            blocks.restart()
            #expect(blocks.skip(to: Self.place(of: 0xF3, in: bytes)) == 0)
        }
    }

    @Test("counts nothing in a file without one video")
    func tracks() throws {
        for tracks in [Self.track(1, type: 2), Self.track(1, type: 1) + Self.track(2, type: 1)] {
            try read(Self.file(tracks: tracks, Self.simpleBlock())) { #expect(MatroskaBlocks(of: $0) == nil) }
        }
    }
}
