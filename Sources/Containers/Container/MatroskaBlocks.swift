import Glibc

/// Counts the pictures in a Matroska file's own structure, to detect pictures that libavformat skips
/// silently, such as the rest of a cluster after a block that it cannot decompress.
struct MatroskaBlocks {
    private let descriptor: Int32
    /// The only video's number.
    private let track: UInt64
    /// Where the segment ends; nil if its size is unknown.
    private let end: Int64?
    /// The offset of the element after the latest block that libavformat delivered; nil if unknown.
    private var next: Int64?
    /// Where the content of that block starts.
    private var latest: Int64?

    /// RFC 9559, 5.1.
    private enum Identifier {
        static let tracks: UInt64 = 0x1654_AE6B
        static let trackEntry: UInt64 = 0xAE
        static let trackNumber: UInt64 = 0xD7
        static let trackType: UInt64 = 0x83
        static let cluster: UInt64 = 0x1F43_B675
        static let blockGroup: UInt64 = 0xA0
        static let block: UInt64 = 0xA1
        static let simpleBlock: UInt64 = 0xA3
    }

    private static let video: UInt64 = 1
    /// The most elements before the first cluster, and in a track entry.
    private static let mostElements = 1000

    /// A block of any track.
    private struct Block {
        let track: UInt64
        let pictureCount: Int
    }

    /// - Returns: nil unless the file has one video.
    init?(of descriptor: Int32) {
        guard let segment = MatroskaEnd.content(of: descriptor) else { return nil }
        var (offset, track) = (segment.start, UInt64?.none)
        for _ in 0..<Self.mostElements {
            guard let element = MatroskaEnd.element(descriptor, at: offset) else { return nil }
            if element.identifier == Identifier.cluster {
                guard let track else { return nil }
                (self.descriptor, self.track) = (descriptor, track)
                (end, next) = (segment.end, offset)
                return
            }
            guard let end = element.end else { return nil }
            if element.identifier == Identifier.tracks {
                guard let found = Self.videoTrack(descriptor, element.start..<end) else { return nil }
                track = found
            }
            offset = end
        }
        return nil
    }

    private static func videoTrack(_ descriptor: Int32, _ tracks: Range<Int64>) -> UInt64? {
        var found: UInt64?
        for entry in elements(descriptor, tracks) where entry.identifier == Identifier.trackEntry {
            let parts = elements(descriptor, entry.start..<(entry.end ?? entry.start))
            func value(_ identifier: UInt64) -> UInt64? {
                parts.first { $0.identifier == identifier }.flatMap { integer(descriptor, $0) }
            }
            guard value(Identifier.trackType) == video else { continue }
            if found != nil { return nil }
            found = value(Identifier.trackNumber)
        }
        return found
    }

    private static func elements(_ descriptor: Int32, _ range: Range<Int64>) -> [MatroskaEnd.Element] {
        var (elements, offset) = ([MatroskaEnd.Element](), range.lowerBound)
        while offset < range.upperBound, elements.count < mostElements,
            let element = MatroskaEnd.element(descriptor, at: offset), let end = element.end
        {
            elements.append(element)
            offset = end
        }
        return elements
    }

    private static func integer(_ descriptor: Int32, _ element: MatroskaEnd.Element) -> UInt64? {
        guard let end = element.end, (1...8).contains(end - element.start) else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8) { buffer in
            let count = Int(end - element.start)
            guard pread(descriptor, buffer.baseAddress, count, off_t(element.start)) == count else {
                return nil
            }
            return buffer.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Forgets the position, because reading continues elsewhere.
    mutating func restart() { (next, latest) = (nil, nil) }

    /// Advances to a block that libavformat delivers.
    /// - Parameter place: where the block's content starts.
    /// - Returns: the number of pictures between the previous block and this one; 0 if unknown.
    mutating func skip(to place: Int64) -> Int {
        // Another picture in the same, laced block.
        guard place != latest else { return 0 }
        let from = next
        (next, latest) = (blockEnd(at: place), place)
        return from.flatMap { count(from: $0, to: place, limit: place) } ?? 0
    }

    /// The number of pictures after the latest block, within the part of the file that libavformat has read.
    mutating func rest(upTo limit: Int64) -> Int {
        guard let next else { return 0 }
        return count(from: next, to: nil, limit: limit) ?? 0
    }

    /// Counts the pictures in the blocks before a place.
    /// - Parameters:
    ///   - place: where the content of the block that ends the count starts; nil to count all blocks.
    ///   - limit: blocks that end later do not count.
    /// - Returns: nil if the structure is damaged, or has no such block.
    private func count(from offset: Int64, to place: Int64?, limit: Int64) -> Int? {
        let limit = min(limit, end ?? .max)
        var (offset, count) = (offset, 0)
        while offset < limit {
            guard let element = MatroskaEnd.element(descriptor, at: offset) else { return nil }
            if element.identifier == MatroskaEnd.header { break }
            if element.identifier == Identifier.cluster || element.identifier == Identifier.blockGroup {
                offset = element.start
                continue
            }
            guard let end = element.end else { return nil }
            offset = end
            guard element.identifier == Identifier.block || element.identifier == Identifier.simpleBlock
            else {
                continue
            }
            if element.start == place { return count }
            guard let block = block(element) else { return nil }
            if block.track == track, end <= limit { count += block.pictureCount }
        }
        return place == nil ? count : nil
    }

    /// Reads a block's own header (RFC 9559, 10.1).
    private func block(_ element: MatroskaEnd.Element) -> Block? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(element.start))
            guard count > 0, let track = MatroskaEnd.number(buffer[..<count], hasMarker: false),
                count > track.length + 3
            else { return nil }
            // After the track a time of two bytes, the flags, and with lacing the number of frames less one.
            let isLaced = buffer[track.length + 2] & 0x06 != 0
            let length = (element.end ?? element.start) - element.start
            let hasContent = length > Int64(track.length + 3)
            return Block(
                track: track.value,
                pictureCount: !hasContent ? 0 : isLaced ? Int(buffer[track.length + 3]) + 1 : 1)
        }
    }

    /// The end of the block whose content starts at a place. Finds the header, whose length varies, before
    /// that place.
    private func blockEnd(at place: Int64) -> Int64? {
        for headerLength in Int64(2)...9 where place >= headerLength {
            guard let element = MatroskaEnd.element(descriptor, at: place - headerLength),
                element.identifier == Identifier.block || element.identifier == Identifier.simpleBlock,
                element.start == place
            else { continue }
            return element.end
        }
        return nil
    }
}
