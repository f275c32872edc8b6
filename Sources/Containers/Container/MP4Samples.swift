import Glibc

/// Counts the pictures in an MP4 file's own tables (ISO/IEC 14496-12), to detect
/// pictures that libavformat skips.
enum MP4Samples {
    private typealias Box = (kind: String, content: Range<Int64>)

    private static let mostBoxes = 1 << 21

    /// Counts the samples of the only video, including samples in fragments.
    /// - Parameter limit: the end of the part of the file to examine.
    /// - Returns: nil if the file has no video or several, or if an edit list leaves samples out.
    static func count(of descriptor: Int32, upTo limit: Int64) -> Int? {
        var (track, count) = (Track?.none, 0)
        for box in boxes(descriptor, 0..<limit) {
            switch box.kind {
            case "moov":
                guard track == nil, let found = video(descriptor, box) else { return nil }
                (track, count) = (found, count + found.sampleCount)
            case "moof": count += track.map { fragment(descriptor, box, $0.number) } ?? 0
            default: break
            }
        }
        return track == nil ? nil : count
    }

    private struct Track {
        let number: Int64
        let sampleCount: Int
    }

    private static func video(_ descriptor: Int32, _ movie: Box) -> Track? {
        let videos = boxes(descriptor, movie.content).filter { track in
            guard track.kind == "trak", let handler = box(descriptor, track, "mdia", "hdlr") else {
                return false
            }
            // handler_type, 8.4.3
            return number(descriptor, handler, at: 8) == 0x7669_6465
        }
        guard videos.count == 1, let header = box(descriptor, videos[0], "tkhd"),
            let number = Self.number(descriptor, header, at: isLong(descriptor, header) ? 20 : 12),
            let table = box(descriptor, videos[0], "mdia", "minf", "stbl"),
            let sizes = box(descriptor, table, "stsz") ?? box(descriptor, table, "stz2"),
            let count = Self.number(descriptor, sizes, at: 8),
            !leavesOut(descriptor, videos[0], movie)
        else { return nil }
        return Track(number: number, sampleCount: Int(count))
    }

    /// Whether an edit list ends before the video does, or has several parts (8.6.6): libavformat then leaves samples out.
    private static func leavesOut(_ descriptor: Int32, _ track: Box, _ movie: Box) -> Bool {
        guard let list = box(descriptor, track, "edts", "elst") else { return false }
        guard let count = number(descriptor, list, at: 4), count <= 2, !isLong(descriptor, list),
            let movieScale = box(descriptor, movie, "mvhd").flatMap({ time(descriptor, $0) })?.scale,
            let media = box(descriptor, track, "mdia", "mdhd").flatMap({ time(descriptor, $0) })
        else { return true }
        let unused = Int64(UInt32.max)
        let edits = (0..<count).compactMap { index -> (duration: Int64, start: Int64)? in
            guard let duration = number(descriptor, list, at: 8 + 12 * index),
                let start = number(descriptor, list, at: 12 + 12 * index), start != unused
            else { return nil }
            return (duration, start)
        }
        guard edits.count == 1, movieScale > 0, media.scale > 0 else { return true }
        let length = Double(edits[0].duration) / Double(movieScale)
        let end = Double(edits[0].start) / Double(media.scale) + length
        return edits[0].duration > 0
            && end + 1.5 / Double(movieScale) < Double(media.duration) / Double(media.scale)
    }

    /// The time scale and the duration in a header of a movie or of media (8.2.2, 8.4.2).
    private static func time(_ descriptor: Int32, _ header: Box) -> (scale: Int64, duration: Int64)? {
        let hasLongTimes = isLong(descriptor, header)
        guard let scale = number(descriptor, header, at: hasLongTimes ? 20 : 12),
            let duration = number(descriptor, header, at: hasLongTimes ? 28 : 16)
        else { return nil }
        return (scale, duration)
    }

    private static func fragment(_ descriptor: Int32, _ fragment: Box, _ track: Int64) -> Int {
        boxes(descriptor, fragment.content).filter { $0.kind == "traf" }.reduce(0) { count, part in
            let parts = boxes(descriptor, part.content)
            guard let header = parts.first(where: { $0.kind == "tfhd" }),
                number(descriptor, header, at: 4) == track
            else { return count }
            return parts.filter { $0.kind == "trun" }.reduce(count) {
                $0 + Int(number(descriptor, $1, at: 4) ?? 0)
            }
        }
    }

    /// Whether a box has times of 64 bits: its version is 1.
    private static func isLong(_ descriptor: Int32, _ box: Box) -> Bool {
        number(descriptor, box, at: 0).map { $0 >> 24 == 1 } ?? false
    }

    private static func box(_ descriptor: Int32, _ outer: Box, _ path: String...) -> Box? {
        path.reduce(Box?.some(outer)) { box, kind in
            box.flatMap { boxes(descriptor, $0.content).first { $0.kind == kind } }
        }
    }

    private static func boxes(_ descriptor: Int32, _ range: Range<Int64>) -> [Box] {
        var (boxes, offset) = ([Box](), range.lowerBound)
        while offset < range.upperBound, boxes.count < mostBoxes,
            let box = ContainerEnd.box(descriptor, at: offset), box.size >= box.headerLength
        {
            let (end, overflow) = offset.addingReportingOverflow(box.size)
            guard !overflow, end <= range.upperBound else { break }
            let kind = String(decoding: withUnsafeBytes(of: box.kind.bigEndian, Array.init), as: UTF8.self)
            boxes.append((kind, (offset + box.headerLength)..<end))
            offset = end
        }
        return boxes
    }

    /// A big-endian number of 32 bits.
    private static func number(_ descriptor: Int32, _ box: Box, at place: Int64) -> Int64? {
        guard place >= 0, box.content.count >= place + 4 else { return nil }
        var value: UInt32 = 0
        guard pread(descriptor, &value, 4, off_t(box.content.lowerBound + place)) == 4 else { return nil }
        return Int64(UInt32(bigEndian: value))
    }
}
