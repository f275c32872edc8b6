import Glibc

/// The pictures according to an MP4 file's own structure (ISO/IEC 14496-12), to detect what libavformat skips silently:
/// samples beyond a damaged table, and fragments whose boxes have a damaged name or length.
///
/// The edit list and the times stay unchecked. Bytes in front of a whole fragment that no table lists may be padding.
struct MP4Samples {
    /// The number of the only video's pictures, in fragments, too; nil if unknown, or if an edit list leaves some out.
    private(set) var pictureCount: Int?
    /// Where another file begins that libavformat does not read; nil if none does.
    private(set) var joint: Int64?
    /// The damage to the structure, in words; nil if there is none.
    private(set) var damage: String?
    private let descriptor: Int32

    private typealias Box = (kind: String, content: Range<Int64>, isWhole: Bool)

    /// What the index says about all tracks.
    private struct Movie {
        /// The video's number; nil unless there is one video.
        var video: Int64?
        /// The samples' default size in fragments, by the track's number.
        var defaultSizes: [Int64: Int64] = [:]
        var hasFragments = false
    }

    /// The data of a fragment, or of the index if no fragment precedes the data.
    private struct Fragment {
        /// The bytes that the tables list, and those that are stored. Damaged tables may list more than any integer holds.
        var (listed, stored) = (0.0, 0.0)
        /// Where the latest data is.
        var latest = Int64(0)..<0
        /// Whether all boxes are known, and as long as their content.
        var isIntact = true
        /// Whether other data than samples may be stored, such as encryption's.
        var hasOtherData = false
    }

    private static let mostBoxes = 1 << 21
    /// The most entries of a table to read: weeks of pictures.
    private static let mostEntries: Int64 = 1 << 26
    /// The shortest content of headers with times of 64 bits (8.2.2, 8.3.2, 8.4.2).
    private static let shortestLongHeader = ["mvhd": 112, "tkhd": 96, "mdhd": 36]
    private static let fragmentParts: Set = ["mfhd", "traf", "pssh", "meta", "udta", "uuid"]
    private static let trackParts: Set = [
        "tfhd", "tfdt", "trun", "sdtp", "sbgp", "sgpd", "subs", "saiz", "saio", "senc", "meta", "udta",
        "uuid",
    ]

    /// Reads the structure.
    /// - Parameter limit: the end of the part of the file to examine.
    init(of descriptor: Int32, upTo limit: Int64) {
        self.descriptor = descriptor
        var (movie, fragment) = (Movie?.none, Fragment())
        var (offset, fileStart, boxCount) = (Int64(0), Int64(0), 0)
        while offset < limit, boxCount < Self.mostBoxes, let box = box(at: offset, upTo: limit) {
            switch box.kind {
            case "ftyp": fileStart = offset
            case "moov" where movie == nil: movie = read(box, &fragment)
            case "moov":
                if tracks(of: box).contains(where: { sampleCount($0) ?? 0 > 0 }) {
                    joint = joint ?? fileStart
                }
            case "moof":
                finish(fragment)
                fragment = Fragment()
                movie?.hasFragments = true
                if let movie { read(box, movie, &fragment) }
            case "mdat":
                fragment.stored += Double(box.content.count)
                fragment.latest = box.content
            default: break
            }
            guard box.isWhole else { break }
            (offset, boxCount) = (box.content.upperBound, boxCount + 1)
        }
        if movie?.hasFragments == true { finish(fragment) }
        if let box = ContainerEnd.box(descriptor, at: offset), offset < limit,
            (1..<box.headerLength).contains(box.size)
        {
            note(ContainerEnd.damage(at: offset))
        }
    }

    private mutating func note(_ problem: String) { damage = damage ?? problem }

    /// Compares a fragment's tables with its data.
    private mutating func finish(_ fragment: Fragment) {
        let unlisted = fragment.stored - fragment.listed
        guard unlisted > 0, !fragment.hasOtherData else { return }
        if !fragment.isIntact || unlisted >= Double(fragment.latest.count) {
            note("no table lists the data at byte \(fragment.latest.lowerBound)")
        }
    }

    // MARK: The index

    private mutating func read(_ movie: Box, _ fragment: inout Fragment) -> Movie {
        var found = Movie()
        let tracks = tracks(of: movie)
        let videos = tracks.filter { track in
            // handler_type, 8.4.3
            box(track, "mdia", "hdlr").flatMap { number($0, at: 8) } == 0x7669_6465
        }
        if videos.count == 1 {
            found.video = number(of: videos[0])
            pictureCount = sampleCount(videos[0])
            if pictureCount == nil || found.video == nil || box(videos[0], "mdia", "mdhd") == nil {
                note("a table of its pictures is missing")
            } else if let count = pictureCount, disagree(videos[0], with: Int64(count)) {
                note("its tables disagree on the number of pictures")
            }
            // libavformat leaves out none of a fragment.
            if pictureCount != 0, leavesOut(videos[0], movie) { pictureCount = nil }
        }
        for header in [box(movie, "mvhd")] + videos.flatMap({ [box($0, "tkhd"), box($0, "mdia", "mdhd")] }) {
            if let header, let shortest = Self.shortestLongHeader[header.kind], isLong(header),
                header.content.count < shortest
            {
                note(ContainerEnd.damage(at: header.content.lowerBound))
            }
        }
        guard let extends = box(movie, "mvex") else { return found }
        found.hasFragments = true
        for track in tracks {
            if let number = number(of: track) { found.defaultSizes[number] = 0 }
            fragment.listed += sizeOfSamples(track)
        }
        for part in boxes(extends.content) where part.kind == "trex" {
            if let track = number(part, at: 4), let size = number(part, at: 16) {
                found.defaultSizes[track] = size
            }
        }
        return found
    }

    private func tracks(of movie: Box) -> [Box] { boxes(movie.content).filter { $0.kind == "trak" } }

    private func number(of track: Box) -> Int64? {
        box(track, "tkhd").flatMap { number($0, at: isLong($0) ? 20 : 12) }
    }

    private func sampleTable(_ track: Box) -> Box? { box(track, "mdia", "minf", "stbl") }

    private func sampleCount(_ track: Box) -> Int? {
        guard let table = sampleTable(track), let sizes = box(table, "stsz") ?? box(table, "stz2") else {
            return nil
        }
        return number(sizes, at: 8).map { Int($0) }
    }

    private func sizeOfSamples(_ track: Box) -> Double {
        guard let sizes = sampleTable(track).flatMap({ box($0, "stsz") }), let size = number(sizes, at: 4),
            let count = number(sizes, at: 8)
        else { return 0 }
        return size > 0 ? Double(size) * Double(count) : sum(sizes, from: 12, every: 4, count: count)
    }

    /// Whether the tables of times and of chunks (8.6.1.2, 8.7.4) both have more samples than the table of sizes.
    private func disagree(_ track: Box, with count: Int64) -> Bool {
        guard let table = sampleTable(track), let times = box(table, "stts"), let runs = box(table, "stsc"),
            let chunks = box(table, "stco") ?? box(table, "co64"), let timeCount = number(times, at: 4),
            let runCount = number(runs, at: 4), let chunkCount = number(chunks, at: 4),
            sum(times, from: 8, every: 8, count: timeCount) > Double(count), runCount <= Self.mostEntries
        else { return false }
        var inChunks = 0.0
        for run in 0..<runCount {
            guard let first = number(runs, at: 8 + 12 * run), let samples = number(runs, at: 12 + 12 * run)
            else {
                return false
            }
            let next = run + 1 < runCount ? number(runs, at: 20 + 12 * run) ?? 0 : chunkCount + 1
            inChunks += Double(max(0, next - first)) * Double(samples)
        }
        return inChunks > Double(count)
    }

    /// Whether an edit list begins after the video's first picture or ends before the video does, or has several parts
    /// (8.6.6): libavformat then leaves samples out, up to the last keyframe ahead of the beginning.
    private func leavesOut(_ track: Box, _ movie: Box) -> Bool {
        guard let list = box(track, "edts", "elst") else { return false }
        guard let count = number(list, at: 4), count <= 2, !isLong(list),
            let movieScale = box(movie, "mvhd").flatMap(time)?.scale,
            let media = box(track, "mdia", "mdhd").flatMap(time)
        else { return true }
        let unused = Int64(UInt32.max)
        let edits = (0..<count).compactMap { index -> (duration: Int64, start: Int64)? in
            guard let duration = number(list, at: 8 + 12 * index),
                let start = number(list, at: 12 + 12 * index), start != unused
            else { return nil }
            return (duration, start)
        }
        guard edits.count == 1, movieScale > 0, media.scale > 0 else { return true }
        if edits[0].start > firstTime(track) { return true }
        let length = Double(edits[0].duration) / Double(movieScale)
        let end = Double(edits[0].start) / Double(media.scale) + length
        return edits[0].duration > 0
            && end + 1.5 / Double(movieScale) < Double(media.duration) / Double(media.scale)
    }

    /// The composition time of the first sample, on the media's clock (8.6.1.3).
    private func firstTime(_ track: Box) -> Int64 {
        guard let offsets = sampleTable(track).flatMap({ box($0, "ctts") }),
            let offset = number(offsets, at: 12)
        else { return 0 }
        return Int64(Int32(truncatingIfNeeded: offset))
    }

    /// The time scale and the duration in a header of a movie or of media (8.2.2, 8.4.2).
    private func time(_ header: Box) -> (scale: Int64, duration: Int64)? {
        let hasLongTimes = isLong(header)
        guard let scale = number(header, at: hasLongTimes ? 20 : 12),
            let duration = number(header, at: hasLongTimes ? 28 : 16)
        else { return nil }
        return (scale, duration)
    }

    // MARK: Fragments

    private mutating func read(_ box: Box, _ movie: Movie, _ fragment: inout Fragment) {
        let parts = boxes(box.content)
        let isFilled = parts.last?.content.upperBound == box.content.upperBound
        fragment.isIntact = isFilled && parts.allSatisfy { Self.fragmentParts.contains($0.kind) }
        for part in parts where part.kind == "traf" { readTrack(part, movie, &fragment) }
    }

    /// Reads a track's part of a fragment (8.8.6).
    private mutating func readTrack(_ box: Box, _ movie: Movie, _ fragment: inout Fragment) {
        let parts = boxes(box.content)
        if parts.last?.content.upperBound != box.content.upperBound { fragment.isIntact = false }
        guard let header = parts.first(where: { $0.kind == "tfhd" }), let flags = number(header, at: 0),
            let track = number(header, at: 4), let defaultSize = movie.defaultSizes[track]
        else { return fragment.isIntact = false }
        // The base offset comes first, then the index of the description, the duration, the size, and flags (8.8.7).
        let ahead = 8 + (flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0) + (flags & 8 != 0 ? 4 : 0)
        let length = ahead + (flags & 0x10 != 0 ? 4 : 0) + (flags & 0x20 != 0 ? 4 : 0)
        if header.content.count != length { fragment.isIntact = false }
        let size = flags & 0x10 != 0 ? number(header, at: Int64(ahead)) ?? defaultSize : defaultSize
        for part in parts {
            if part.kind == "saio" || part.kind == "senc" { fragment.hasOtherData = true }
            if !Self.trackParts.contains(part.kind) { fragment.isIntact = false }
            guard part.kind == "trun", let flags = number(part, at: 0), let count = number(part, at: 4) else {
                continue
            }
            // The offset of the data and the first sample's flags, then four fields of each sample (8.8.8).
            let begin = 8 + (flags & 1 != 0 ? 4 : 0) + (flags & 4 != 0 ? 4 : 0)
            let step = Int64((flags & 0xF00).nonzeroBitCount * 4)
            if Int64(part.content.count) != Int64(begin) + count * step {
                note(ContainerEnd.damage(at: part.content.lowerBound))
            }
            fragment.listed +=
                flags & 0x200 == 0
                ? Double(count) * Double(size)
                : sum(part, from: Int64(begin + (flags & 0x100 != 0 ? 4 : 0)), every: step, count: count)
            if track == movie.video { pictureCount = pictureCount.map { $0 + Int(count) } }
        }
    }

    /// Whether another file's index is in a part of a file.
    static func hasIndex(_ descriptor: Int32, in range: Range<Int64>) -> Bool {
        var (offset, boxCount) = (Int64(0), 0)
        while offset < range.upperBound, boxCount < mostBoxes,
            let box = ContainerEnd.box(descriptor, at: offset),
            box.size >= box.headerLength
        {
            if offset >= range.lowerBound, box.kind == 0x6D6F_6F76 { return true }
            let (end, overflow) = offset.addingReportingOverflow(box.size)
            guard !overflow else { break }
            (offset, boxCount) = (end, boxCount + 1)
        }
        return false
    }

    // MARK: Boxes

    /// Whether a box has times of 64 bits: its version is 1.
    private func isLong(_ box: Box) -> Bool { number(box, at: 0).map { $0 >> 24 == 1 } ?? false }

    private func box(_ outer: Box, _ path: String...) -> Box? {
        path.reduce(Box?.some(outer)) { box, kind in
            box.flatMap { boxes($0.content).first { $0.kind == kind } }
        }
    }

    private func boxes(_ range: Range<Int64>) -> [Box] {
        var (boxes, offset) = ([Box](), range.lowerBound)
        while offset < range.upperBound, boxes.count < Self.mostBoxes,
            let box = box(at: offset, upTo: range.upperBound), box.isWhole
        {
            boxes.append(box)
            offset = box.content.upperBound
        }
        return boxes
    }

    /// Reads the header of a box; nil if it is invalid, or says that the box extends to the end of the file.
    private func box(at offset: Int64, upTo limit: Int64) -> Box? {
        guard let box = ContainerEnd.box(descriptor, at: offset), box.size >= box.headerLength else {
            return nil
        }
        let (end, overflow) = offset.addingReportingOverflow(box.size)
        let (start, isWhole) = (offset + box.headerLength, !overflow && end <= limit)
        guard start <= limit else { return nil }
        let kind = String(decoding: withUnsafeBytes(of: box.kind.bigEndian, Array.init), as: UTF8.self)
        return (kind, start..<(isWhole ? end : limit), isWhole)
    }

    /// A big-endian number of 32 bits.
    private func number(_ box: Box, at place: Int64) -> Int64? {
        guard place >= 0, box.content.count >= place + 4 else { return nil }
        var value: UInt32 = 0
        guard pread(descriptor, &value, 4, off_t(box.content.lowerBound + place)) == 4 else { return nil }
        return Int64(UInt32(bigEndian: value))
    }

    /// The sum of numbers of 32 bits at equal distances, as far as the box has them.
    private func sum(_ box: Box, from place: Int64, every step: Int64, count: Int64) -> Double {
        let batch = 1024
        return withUnsafeTemporaryAllocation(byteCount: batch * Int(step), alignment: 4) { bytes in
            var (sum, offset) = (0.0, box.content.lowerBound + place)
            let end = min(box.content.upperBound, offset + min(count, Self.mostEntries) * step)
            while offset < end {
                let wanted = min(bytes.count, Int(end - offset))
                let read = pread(descriptor, bytes.baseAddress, wanted, off_t(offset))
                guard read == wanted else { break }
                for index in stride(from: 0, to: read - 3, by: Int(step)) {
                    sum += Double(UInt32(bigEndian: bytes.load(fromByteOffset: index, as: UInt32.self)))
                }
                offset += Int64(wanted)
            }
            return sum
        }
    }
}
