import Glibc

/// Follows a Matroska file's own structure from block to block, to detect what libavformat skips silently: the rest
/// of a cluster after a block that it cannot decompress, or elements whose identifier or length is damaged.
///
/// These stay undetected: a picture's block with the number of another track, and times; and everything after more
/// elements than any program writes between two pictures, because each takes longer here than in libavformat.
struct MatroskaBlocks {
    private let descriptor: Int32
    /// The numbers of all tracks of the current segment; empty if unknown.
    private var tracks: Set<UInt64> = []
    /// The only video's number; nil before its first block.
    private var video: UInt64?
    /// Where the current segment ends; nil if its size is unknown.
    private var segmentEnd: Int64?
    /// The offset of the element after the latest block that libavformat delivered; nil if unknown.
    private var next: Int64?
    /// Where the content of that block starts.
    private var latest: Int64?
    /// The number of elements that may still be read; each picture adds some.
    private var allowance = mostAllowance

    /// RFC 9559, 5.1.
    private enum Identifier {
        static let segment: UInt64 = 0x1853_8067
        static let tracks: UInt64 = 0x1654_AE6B
        static let trackEntry: UInt64 = 0xAE
        static let trackNumber: UInt64 = 0xD7
        static let cluster: UInt64 = 0x1F43_B675
        static let timestamp: UInt64 = 0xE7
        static let blockGroup: UInt64 = 0xA0
        static let block: UInt64 = 0xA1
        static let simpleBlock: UInt64 = 0xA3
        static let checksum: UInt64 = 0xBF
    }

    /// The longest content of the other elements in segments, clusters and groups of blocks.
    private static let longestContents: [UInt64: Int64] = [
        // SeekHead, Info, Tracks, Chapters, Tags, Attachments, Cues, and EBML's SignatureSlot
        0x114D_9B74: .max, 0x1549_A966: .max, Identifier.tracks: .max, 0x1043_A770: .max, 0x1254_C367: .max,
        0x1941_A469: .max, 0x1C53_BB6B: .max, 0x1B53_8667: .max,
        // In clusters: Timestamp, Position, PrevSize, SilentTracks, EncryptedBlock
        Identifier.timestamp: 8, 0xA7: 8, 0xAB: 8, 0x5854: .max, 0xAF: .max,
        // In groups: BlockVirtual, BlockAdditions, BlockDuration, ReferencePriority, ReferenceBlock,
        // ReferenceVirtual, CodecState, DiscardPadding, Slices, ReferenceFrame
        0xA2: .max, 0x75A1: .max, 0x9B: 8, 0xFA: 8, 0xFB: 8, 0xFD: 8, 0xA4: .max, 0x75A2: 8, 0x8E: .max,
        0xC8: .max,
        // Anywhere: Void, CRC-32
        0xEC: .max, Identifier.checksum: 4,
    ]

    /// More than the longest header of an element.
    private static let headerRoom: Int64 = 12
    /// The most tracks of a segment, and elements in one of them.
    private static let mostElements = 1000
    /// The elements that each picture allows: files have a few.
    private static let elementsPerPicture = 1000
    /// A tenth of a second's work.
    static let mostAllowance = 50_000

    /// A part of the file between two blocks that libavformat delivers.
    struct Gap: Equatable {
        /// The number of pictures in it.
        var pictureCount = 0
        /// Where its structure is damaged; nil if it is intact.
        var damage: Int64?
        /// Where another file begins in it; nil if none does.
        var joint: Int64?

        /// The loss of pictures, in words; nil if there is none.
        var problem: String? {
            if let damage { return ContainerEnd.damage(at: damage) }
            return pictureCount > 0 ? "pictures skipped: \(pictureCount)" : nil
        }
    }

    /// A block of any track.
    private struct Block {
        let track: UInt64
        let pictureCount: Int
        /// Whether the bits that are reserved in a block are not set.
        let isPlausible: Bool
    }

    /// - Returns: nil if it is no Matroska file.
    init?(of descriptor: Int32) {
        guard let segment = MatroskaEnd.content(of: descriptor) else { return nil }
        (self.descriptor, segmentEnd, next) = (descriptor, segment.end, segment.start)
    }

    /// Whether a message of libavformat only says that another file follows.
    static func isAboutJoint(_ message: String) -> Bool { message.contains("0x18538067") }

    /// Forgets the position, because reading continues elsewhere.
    mutating func restart() { (next, latest) = (nil, nil) }

    /// Advances to a block of the video that libavformat delivers.
    /// - Parameter place: where the block's content starts.
    /// - Returns: the part between the previous block and this one; an empty one if unknown.
    mutating func skip(to place: Int64) -> Gap {
        // Another picture in the same, laced block.
        guard place != latest else { return Gap() }
        latest = place
        if allowance > 0 { allowance = min(Self.mostAllowance, allowance + Self.elementsPerPicture) }
        let ends = blockEnds(at: place)
        video = video ?? block(at: place)?.track
        guard let from = next, !ends.isEmpty else {
            next = allowance <= 0 ? nil : ends.first(where: isBoundary)
            return Gap()
        }
        next = nil
        let gap = walk(from: from, to: place, limit: place)
        if allowance > 0 { next = next ?? ends.first(where: isBoundary) }
        return gap
    }

    /// The part after the latest block, as far as libavformat has read the file.
    mutating func rest(upTo limit: Int64) -> Gap {
        guard let from = next else { return Gap() }
        next = nil
        return walk(from: from, to: nil, limit: limit)
    }

    /// Walks through the elements before a place, and notes the end of the block there.
    /// - Parameters:
    ///   - place: where the content of the last block starts; nil to walk to the limit.
    ///   - limit: blocks that end later do not count: they are cut off.
    private mutating func walk(from begin: Int64, to place: Int64?, limit: Int64) -> Gap {
        var (offset, gap) = (begin, Gap())
        while offset < limit {
            if let segmentEnd, offset >= segmentEnd, !isBoundary(offset) { break }
            allowance -= 1
            // What was found counts; the rest is unknown.
            guard allowance > 0 else { return gap }
            guard let element = MatroskaEnd.element(descriptor, at: offset) else {
                if place == nil, offset + Self.headerRoom > limit { return gap }
                break
            }
            switch element.identifier {
            case Identifier.segment:
                segmentEnd = element.end
                offset = element.start
                continue
            case Identifier.cluster, Identifier.blockGroup:
                offset = element.start
                continue
            default: break
            }
            guard let end = element.end, canBe(element, end) else { break }
            if end > limit, place == nil { return gap }
            guard isIntact(element, end) else { break }
            if element.start == place {
                next = end
                return gap
            }
            switch element.identifier {
            case MatroskaEnd.header:
                gap.joint = gap.joint ?? offset
                segmentEnd = nil
            case Identifier.tracks: tracks = trackNumbers(element.start..<end)
            case Identifier.block, Identifier.simpleBlock:
                if let block = block(at: element.start, end), block.track == video {
                    gap.pictureCount += block.pictureCount
                }
            default: break
            }
            offset = end
        }
        guard place == nil, let segmentEnd, offset >= segmentEnd else {
            if place != nil || offset < limit { gap.damage = offset }
            return gap
        }
        // Without reading on, libavformat ends where the segment does.
        if MatroskaEnd.element(descriptor, at: segmentEnd)?.identifier == MatroskaEnd.header {
            gap.joint = gap.joint ?? segmentEnd
        }
        return gap
    }

    /// Whether an element other than a cluster or a group may have its identifier and its length.
    private func canBe(_ element: MatroskaEnd.Element, _ end: Int64) -> Bool {
        switch element.identifier {
        case MatroskaEnd.header, Identifier.block, Identifier.simpleBlock: true
        // Readers skip what a later version of the format adds. All one-byte identifiers are in use or reserved.
        case let other: end - element.start <= Self.longestContents[other] ?? (other > 0xFF ? .max : -1)
        }
    }

    /// Whether the content of such an element fits.
    private func isIntact(_ element: MatroskaEnd.Element, _ end: Int64) -> Bool {
        switch element.identifier {
        case MatroskaEnd.header: return true
        case Identifier.block, Identifier.simpleBlock:
            guard let block = block(at: element.start, end) else { return false }
            return tracks.isEmpty || tracks.contains(block.track)
        case let other where Self.longestContents[other] != nil: return !isPicture(element, end)
        default: return !isCluster(element) && isBoundary(end)
        }
    }

    /// Whether the content of an element begins as a cluster does: with a timestamp, or a checksum before that.
    private func isCluster(_ element: MatroskaEnd.Element) -> Bool {
        var first = MatroskaEnd.element(descriptor, at: element.start)
        if let checksum = first, checksum.identifier == Identifier.checksum, let end = checksum.end {
            first = MatroskaEnd.element(descriptor, at: end)
        }
        return first?.identifier == Identifier.timestamp
    }

    /// Whether the content of an element is a block of the video, so that only its identifier can be wrong.
    private func isPicture(_ element: MatroskaEnd.Element, _ end: Int64) -> Bool {
        guard element.identifier <= 0xFF, let block = block(at: element.start, end) else { return false }
        return block.track == video && block.isPlausible && block.pictureCount > 0
    }

    /// Whether an element begins at an offset, or the file ends before its header does.
    private func isBoundary(_ offset: Int64) -> Bool {
        guard let element = MatroskaEnd.element(descriptor, at: offset) else {
            return withUnsafeTemporaryAllocation(byteCount: Int(Self.headerRoom), alignment: 1) {
                pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) < $0.count
            }
        }
        switch element.identifier {
        case MatroskaEnd.header, Identifier.segment, Identifier.cluster, Identifier.blockGroup,
            Identifier.block,
            Identifier.simpleBlock:
            return true
        case let identifier: return Self.longestContents[identifier] != nil
        }
    }

    /// Reads a block's own header (RFC 9559, 10.1); nil if the block or the file ends before.
    private func block(at place: Int64, _ end: Int64 = .max) -> Block? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { buffer in
            let count = min(
                pread(descriptor, buffer.baseAddress, buffer.count, off_t(place)), Int(clamping: end - place))
            guard count > 0, let track = MatroskaEnd.number(buffer[..<count], hasMarker: false),
                count >= track.length + 3
            else { return nil }
            // After the track a time of two bytes, the flags, and with lacing the number of frames less one.
            let flags = buffer[track.length + 2]
            let (isLaced, hasContent) = (flags & 0x06 != 0, count > track.length + 3)
            return Block(
                track: track.value,
                pictureCount: !hasContent ? 0 : isLaced ? Int(buffer[track.length + 3]) + 1 : 1,
                isPlausible: flags & 0x70 == 0)
        }
    }

    /// Where the block whose content starts at a place may end: the length of the header before it varies.
    private func blockEnds(at place: Int64) -> [Int64] {
        (Int64(2)...9).compactMap { headerLength in
            guard place >= headerLength,
                let element = MatroskaEnd.element(descriptor, at: place - headerLength),
                element.identifier == Identifier.block || element.identifier == Identifier.simpleBlock,
                element.start == place
            else { return nil }
            return element.end
        }
    }

    private mutating func trackNumbers(_ tracks: Range<Int64>) -> Set<UInt64> {
        var numbers: Set<UInt64> = []
        for entry in elements(tracks) where entry.identifier == Identifier.trackEntry {
            let number = elements(entry.start..<(entry.end ?? entry.start))
                .first { $0.identifier == Identifier.trackNumber }
            if let number = number.flatMap(integer) { numbers.insert(number) }
        }
        return numbers
    }

    private mutating func elements(_ range: Range<Int64>) -> [MatroskaEnd.Element] {
        var (elements, offset) = ([MatroskaEnd.Element](), range.lowerBound)
        while offset < range.upperBound, elements.count < Self.mostElements, allowance > 0,
            let element = MatroskaEnd.element(descriptor, at: offset), let end = element.end
        {
            elements.append(element)
            offset = end
            allowance -= 1
        }
        return elements
    }

    private func integer(_ element: MatroskaEnd.Element) -> UInt64? {
        guard let end = element.end, (1...8).contains(end - element.start) else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8) { buffer in
            let count = Int(end - element.start)
            guard pread(descriptor, buffer.baseAddress, count, off_t(element.start)) == count else {
                return nil
            }
            return buffer.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
