/// Provides access units and reuses their storage, so that nothing is allocated in the steady state.
///
/// Used by one thread, the encode thread. The access units themselves may go to any thread. One is reused
/// when only the pool still refers to it, which is checked when the next builder is requested.
public final class AccessUnitPool {
    /// Storage that no recent picture needed is freed if it is larger than this, in bytes.
    static let minimumRetainedCapacity = 64 << 10

    /// The access units' coding standard.
    let codec: Codec
    private let limit: Int
    private var accessUnits: [AccessUnit] = []
    private var next = 0
    /// The size of the largest recent access unit in bytes; decays by a 1024th with every picture.
    private var recentPeak = 0

    /// Makes an empty pool.
    ///
    /// - Parameters:
    ///   - codec: the codec of the access units.
    ///   - limit: how many access units are kept for reuse. Any beyond that are allocated and freed
    ///     individually.
    public init(codec: Codec, limit: Int = 64) {
        precondition(limit > 0, "a pool holds at least one access unit")
        self.codec = codec
        self.limit = limit
        accessUnits.reserveCapacity(limit)
    }

    /// The number of access units kept, in use or not.
    var retainedCount: Int { accessUnits.count }

    /// Returns a builder for an unused access unit: an existing one if there is one, otherwise a new one.
    public func makeBuilder() -> AccessUnitBuilder {
        AccessUnitBuilder(filling: takeAccessUnit(), maximumCapacity: maximumCapacity)
    }

    /// Four times the largest recent access unit: room for a keyframe, but not for an outlier forever.
    private var maximumCapacity: Int { max(Self.minimumRetainedCapacity, 4 * recentPeak) }

    private func takeAccessUnit() -> AccessUnit {
        for _ in accessUnits.indices {
            let index = next
            next = next + 1 < accessUnits.count ? next + 1 : 0
            // The pool holds the only reference, and only this thread can create another: nobody reads it any
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
