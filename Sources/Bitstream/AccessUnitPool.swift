/// Hands out access units whose storage is used again and again, so that the steady state allocates nothing.
///
/// Belongs to one thread, the one that encodes. The access units themselves go to any thread; one is used
/// again when the pool's own reference is the only one left, which is found out the next time a builder is
/// asked for.
public final class AccessUnitPool {
    /// Storage that no picture of late needed is given back when it is larger than this, in bytes.
    static let minimumRetainedCapacity = 64 << 10

    /// What the access units are coded by.
    let codec: Codec
    private let limit: Int
    private var accessUnits: [AccessUnit] = []
    private var next = 0
    /// The largest recent access unit in bytes; fades by a 1024th with every picture.
    private var recentPeak = 0

    /// Makes an empty pool.
    ///
    /// - Parameters:
    ///   - codec: the codec of the access units.
    ///   - limit: how many access units are kept for reuse. When more than that are in use, the further ones
    ///     are allocated and freed one by one.
    public init(codec: Codec, limit: Int = 64) {
        precondition(limit > 0, "a pool holds at least one access unit")
        self.codec = codec
        self.limit = limit
        accessUnits.reserveCapacity(limit)
    }

    /// The number of access units kept, in use or not.
    var retainedCount: Int { accessUnits.count }

    /// A builder on an unused access unit: an earlier one if there is one, otherwise a new one.
    public func makeBuilder() -> AccessUnitBuilder {
        AccessUnitBuilder(filling: takeAccessUnit(), maximumCapacity: maximumCapacity)
    }

    /// Four times the largest access unit of late: room for a key frame, not for an outlier forever.
    private var maximumCapacity: Int { max(Self.minimumRetainedCapacity, 4 * recentPeak) }

    private func takeAccessUnit() -> AccessUnit {
        for _ in accessUnits.indices {
            let index = next
            next = next + 1 < accessUnits.count ? next + 1 : 0
            // The only reference left is ours, and only this thread can make another: nobody reads it any
            // more.
            if isKnownUniquelyReferenced(&accessUnits[index]) {
                let accessUnit = accessUnits[index]
                recentPeak = max(recentPeak - recentPeak / 1024, accessUnit.count)
                return accessUnit
            }
        }
        let accessUnit = AccessUnit(codec: codec)
        if accessUnits.count < limit { accessUnits.append(accessUnit) }
        return accessUnit
    }
}
