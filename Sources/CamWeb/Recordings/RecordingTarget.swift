import CamNetworking
import CamPlatform

/// A resource made from the recordings of a camera. Times are in microseconds, since 1970 or from the first
/// picture of a segment.
enum RecordingTarget: Hashable, Sendable {
    /// `NAME.json?from=&to=`: the list of recordings, as JSON.
    case list(Range<WallTime>)
    /// `NAME.mp4?from=&to=`: everything recorded in a range of time, as one finished MP4.
    case span(Range<WallTime>)
    /// `NAME.span?from=&to=`: how far that MP4 is, and what it lacks, as JSON.
    case spanState(Range<WallTime>)
    /// `NAME/ID`: the file of a segment.
    case file(UInt64)
    /// `NAME/ID.mp4?at=&length=`: a piece of a segment as a fragmented MP4, from a keyframe to a keyframe.
    case piece(UInt64, at: Duration, length: Duration)
    /// `NAME/ID.keyframe?at=`: the keyframe at or before a time, as stored in the file.
    case keyframe(UInt64, at: Duration)

    /// The longest piece.
    private static let longestPiece: Int64 = 600_000_000
    /// The latest time, in the year 2200.
    private static let latest: Int64 = 7_258_118_400_000_000

    /// Reads a target after `/recordings/`.
    /// - Returns: the name of the camera and the target; nil if the path or the query is malformed.
    static func read(_ path: Substring, query: Substring) -> (camera: String, target: RecordingTarget)? {
        guard let values = numbers(query) else { return nil }
        if let slash = path.lastIndex(of: "/") {
            guard let camera = PercentEncoding.decoded(path[..<slash]),
                let target = segment(path[path.index(after: slash)...], values)
            else { return nil }
            return (camera, target)
        }
        guard let dot = path.lastIndex(of: "."), let camera = PercentEncoding.decoded(path[..<dot]),
            let from = values["from"], let to = values["to"], from < to, values.count == 2
        else { return nil }
        let time = WallTime(microseconds: from)..<WallTime(microseconds: to)
        switch path[dot...] {
        case ".json": return (camera, .list(time))
        case ".mp4": return (camera, .span(time))
        case ".span": return (camera, .spanState(time))
        default: return nil
        }
    }

    private static func segment(_ name: Substring, _ values: [Substring: Int64]) -> RecordingTarget? {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let id = parts.first.flatMap(number).map(UInt64.init) else { return nil }
        if parts.count == 1 { return values.isEmpty ? .file(id) : nil }
        guard let at = values["at"] else { return nil }
        switch (parts[1], values["length"], values.count) {
        case ("mp4", let length?, 2) where (1...longestPiece).contains(length):
            return .piece(id, at: .microseconds(at), length: .microseconds(length))
        case ("keyframe", nil, 1): return .keyframe(id, at: .microseconds(at))
        default: return nil
        }
    }

    /// The values of `a=1&b=2`; nil if a value is not a number, or a name comes twice.
    private static func numbers(_ query: Substring) -> [Substring: Int64]? {
        var values: [Substring: Int64] = [:]
        for pair in query.split(separator: "&", omittingEmptySubsequences: false) where !query.isEmpty {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, values.count < 4, let value = number(parts[1]), value <= latest,
                values.updateValue(value, forKey: parts[0]) == nil
            else { return nil }
        }
        return values
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}

extension WallTime {
    /// Microseconds since 1970, which JavaScript numbers hold exactly.
    var microseconds: Int64 { nanoseconds / 1000 }

    init(microseconds: Int64) { self.init(nanoseconds: Duration.microseconds(microseconds).inNanoseconds) }
}
