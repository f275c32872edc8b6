import CamControlProtocol

/// How long recordings will be kept, or when their disk will be full: an estimate from what was recorded lately.
enum StorageOutlook: Hashable, Sendable {
    /// Too little was recorded to tell, the clock is wrong, or the recorder does not tell its limits.
    case unknown
    /// Nothing was recorded lately.
    case idle
    /// The disk is full after so many seconds, unless somebody frees some space.
    case fills(Double)
    /// The disk is full, and nothing is removed.
    case full
    /// Old recordings are removed as needed; so many seconds of recordings are kept.
    case keeps(Double)
    /// Recordings that are kept fill the limits.
    case fullOfKept

    /// What is known about the recordings of a camera.
    struct Camera: Hashable, Sendable {
        /// Bytes and number of all recordings.
        var bytes = 0
        var count = 0
        /// Bytes a second that were recorded lately; nil if too little was recorded to tell.
        var rate: Double?
        /// Bytes of the recordings that are kept.
        var keptBytes = 0
        /// The recorder's limits, perhaps none; nil if it does not tell them.
        var limits: RecordingStatistics.Limits?

        init() {}
    }

    /// Estimates for cameras whose recordings are on the same disk.
    static func estimates(for cameras: [Camera], total: Int, free: Int) -> [StorageOutlook] {
        let total = Double(max(0, total))
        let growing = cameras.indices.filter { (cameras[$0].rate ?? 0) > 0 && !cameras[$0].isFullOfKept }
        // As long as one camera of the disk removes nothing, others that leave some space free cannot do so forever.
        let floor =
            growing.allSatisfy { cameras[$0].endsBelowLimit || cameras[$0].floor(of: total) > 0 }
            ? growing.map { cameras[$0].floor(of: total) }.max() ?? 0 : 0
        let end = timeUntil(Double(max(0, free)) - floor, consumedBy: growing.map { cameras[$0] })
        return cameras.map { camera in
            estimate(for: camera, end: end, total: total, others: growing.map { cameras[$0] })
        }
    }

    private static func estimate(
        for camera: Camera, end: Double?, total: Double, others: [Camera]
    ) -> StorageOutlook {
        if camera.isFullOfKept { return .fullOfKept }
        guard let rate = camera.rate else { return camera.count == 0 ? .idle : .unknown }
        guard rate > 0 else { return .idle }
        guard camera.limits != nil else { return .unknown }
        let own = camera.removableRoom(rate)
        guard let end, end < (own - camera.removable) / rate || own == .infinity else {
            return .keeps(own / rate)
        }
        guard camera.floor(of: total) > 0 else {
            // Its own limit comes first, or the disk is full before.
            return end > 0 ? .fills(end) : .full
        }
        // The cameras that leave space free share what they may remove.
        let sharing = others.filter { $0.floor(of: total) > 0 }
        let (bytes, rates) = sharing.reduce(into: (0.0, 0.0)) { sum, other in
            let rate = other.rate ?? 0
            sum.0 += min(other.removableRoom(rate), other.removable + rate * end)
            sum.1 += rate
        }
        return .keeps(bytes / rates)
    }

    /// Seconds until cameras have recorded so many bytes; nil if their limits come first. A camera that has reached its
    /// limit removes as much as it records.
    private static func timeUntil(_ bytes: Double, consumedBy cameras: [Camera]) -> Double? {
        var (left, now) = (bytes, 0.0)
        guard left > 0 else { return cameras.isEmpty ? nil : 0 }
        let ends = cameras.map { camera in
            let rate = camera.rate ?? 0
            return (rate: rate, end: max(0, (camera.removableRoom(rate) - camera.removable) / rate))
        }.sorted { $0.end < $1.end }
        for (index, camera) in ends.enumerated() {
            let rate = ends[index...].reduce(0) { $0 + $1.rate }
            let until = left / rate
            if now + until < camera.end { return now + until }
            left -= (camera.end - now) * rate
            now = camera.end
        }
        return nil
    }
}

extension StorageOutlook.Camera {
    /// Bytes of recordings that may be removed.
    fileprivate var removable: Double { Double(max(0, bytes - keptBytes)) }

    /// Whether the recordings that are kept fill a limit by themselves.
    fileprivate var isFullOfKept: Bool {
        guard keptBytes > 0, let most = limits?.bytes else { return false }
        return keptBytes >= most
    }

    /// Whether a limit ends the growth, whatever the disk has.
    fileprivate var endsBelowLimit: Bool { removableRoom(rate ?? 0) < .infinity }

    /// The bytes to which recordings that may be removed can grow; infinite without a limit on them.
    fileprivate func removableRoom(_ rate: Double) -> Double {
        guard let limits else { return .infinity }
        var room = Double.infinity
        if let seconds = limits.seconds { room = min(room, rate * max(0, seconds)) }
        if let bytes = limits.bytes { room = min(room, Double(max(0, bytes - keptBytes))) }
        if let most = limits.count, count > 0 {
            room = min(room, Double(bytes) / Double(count) * Double(most) - Double(keptBytes))
        }
        return max(0, room)
    }

    /// The bytes of a disk that this camera leaves free.
    fileprivate func floor(of total: Double) -> Double {
        max(Double(limits?.freeBytes ?? 0), total * min(max(0, limits?.freeShare ?? 0), 1))
    }
}
