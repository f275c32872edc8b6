import CamPlatform

extension SegmentJournal.File {
    /// How far the file system's time of creation is ahead of the journal's; nil unless the file that has the name
    /// now is certainly the recorded one.
    /// - Parameter size: the recorded size; nil if it is unknown.
    func offset(of facts: FileFacts, size: Int?) -> Duration? {
        switch mark {
        case .birth(let birth)?:
            facts.birth.flatMap { StoredBirth.offset(of: $0, from: birth, hasSize: size == facts.size) }
        case .inode(let number, let modification?)?:
            facts.birth == nil && facts.inode == number && facts.modification == modification ? .zero : nil
        case .inode(_, nil)?, nil: nil
        }
    }

    /// The file as the journal describes it when its segment begins.
    var begun: SegmentJournal.File {
        guard case .inode(let number, _) = mark else { return self }
        var file = self
        file.mark = .inode(number, modification: nil)
        return file
    }
}

/// Times of creation as file systems store them. Until a file's disk is mounted again, many report them more exactly.
private enum StoredBirth {
    /// ntfs3 and SMB store units of 100 ns, FAT and exFAT 10 ms.
    private static let units: [Int64] = [100, 10_000_000]
    /// FAT without the field for the rest of its two seconds.
    private static let coarsestUnit: Int64 = 2_000_000_000
    /// FAT stores local time. Zones differ by a multiple of this, and by at most a day and two hours.
    private static let zoneStep: Int64 = 15 * 60 * 1_000_000_000
    private static let mostZoneSteps: Int64 = 26 * 4

    /// How far a time of creation is ahead of the recorded one; nil if it belongs to another file.
    ///
    /// A file that replaced a segment would have to be created within 10 ms of it, in some zone: by chance, one of
    /// 90,000 is. Therefore zones need the segment's size as well, and so do units of seconds.
    /// - Parameter hasSize: whether the file has the recorded size.
    static func offset(of stored: WallTime, from recorded: WallTime, hasSize: Bool) -> Duration? {
        let (stored, recorded) = (stored.nanoseconds, recorded.nanoseconds)
        func isStored(in unit: Int64) -> Bool { stored == recorded - recorded % unit }
        if stored == recorded || units.contains(where: isStored) { return .zero }
        guard hasSize else { return nil }
        if isStored(in: coarsestUnit) { return .zero }
        let (offset, overflow) = stored.subtractingReportingOverflow(recorded - recorded % units[1])
        guard !overflow, offset % zoneStep == 0, (offset / zoneStep).magnitude <= mostZoneSteps else {
            return nil
        }
        return .nanoseconds(offset)
    }
}

extension SegmentJournal.Mark {
    /// - Parameter isComplete: whether nothing more is written to the file.
    init(_ facts: FileFacts, isComplete: Bool) {
        self =
            facts.birth.map(Self.birth)
            ?? .inode(facts.inode, modification: isComplete ? facts.modification : nil)
    }
}
