import Glibc

/// A change in an output that has several files. `description` is one line.
public enum SegmentEvent: Sendable, Equatable, CustomStringConvertible {
    /// A file began.
    case began(path: String)
    /// A file cannot continue, or none can begin. Pictures are lost until one does.
    case interrupted(OutputError)
    /// A file began after this number of frames was lost.
    case resumed(path: String, lost: Int)
    /// A segment is recorded, but later runs will not know that they may remove it.
    case unnoted(OutputError)
    /// Too little space is free, and no older segment could make room.
    case shortOfRoom(folder: String)
    /// The number of segments in this folder's journal whose names may belong to other files now.
    case unrecognised(count: Int, folder: String)
    /// The file system of this folder has no locks, which keep two recorders from managing the same segments.
    case unlocked(errno: Int32, folder: String)
    /// An old segment was removed to keep the limits.
    case removed(path: String)

    /// Whether to report it even if the recording succeeds in the end.
    public var isWarning: Bool {
        switch self {
        case .interrupted, .resumed, .unnoted, .shortOfRoom, .unrecognised, .unlocked: true
        case .began, .removed: false
        }
    }

    public var description: String {
        switch self {
        case .began(let path): "writing \(path)"
        case .interrupted(let error): "\(error) (retrying)"
        case .resumed(let path, let lost): "\(path): recording again; frames lost: \(lost)"
        case .unnoted(let error): "\(error) (a later run will not remove what is recorded until then)"
        case .shortOfRoom(let folder):
            "\(folder): less space is free than --min-free requires, and no older segment can be removed; free some space"
        case .unrecognised(let count, let folder):
            "\(folder): recordings that are copies, were replaced, or cannot be identified, and are never removed: "
                + "\(count); 'camrec adopt \(folder)' takes them over"
        case .unlocked(let code, let folder):
            "\(folder): no lock (\(String(cString: strerror(code)))), so that nothing keeps a second camrec from removing "
                + "these segments; record each name with one camrec at a time"
        case .removed(let path): "removed \(path)"
        }
    }
}
