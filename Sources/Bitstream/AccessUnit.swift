import CamPictures
import CamPlatform

/// The bytes of one coded picture, contiguous and normalized: each NAL unit after `00 00 00 01`.
///
/// An `AccessUnitBuilder` fills an access unit. From `finish()` on the access unit is immutable, until its
/// pool holds the only reference and reuses it. Any thread that holds a reference may therefore read the
/// access unit.
///
/// This justifies `@unchecked Sendable`: only the noncopyable builder mutates an access unit, and a builder
/// exists only while no object except its pool shares the access unit. The session sets `rendition` before anyone
/// else has the access unit. All other mutating members are private to this file.
public final class AccessUnit: @unchecked Sendable {
    /// One NAL unit of the picture.
    public struct Unit: Equatable, Sendable {
        /// The unit's parsed header.
        public let header: NALUnitHeader
        /// Where the unit lies in the access unit's bytes, without its start code of four bytes.
        public let bytes: Range<Int>
    }

    /// The length of every start code in an access unit, in bytes.
    public static let startCodeLength = 4
    /// The number of zeros after the bytes. libavcodec and libavformat read packets a word at a time,
    /// beyond the end (`AV_INPUT_BUFFER_PADDING_SIZE`).
    static let paddingLength = 64

    /// The picture's coding standard.
    public let codec: Codec
    /// Whether the picture is an IDR picture: decoding can begin here.
    public fileprivate(set) var isIDR = false
    /// When the picture was captured.
    public fileprivate(set) var timestamp = Instant.start
    /// The picture's position in the recording, from 0, in the order in which pictures were encoded.
    public fileprivate(set) var frameNumber = 0
    /// The driver's sequence number of the picture; gaps are pictures that the driver dropped.
    public fileprivate(set) var sequence: UInt32 = 0
    /// The NAL units in stream order.
    public fileprivate(set) var units: [Unit] = []
    /// The rendition that it belongs to, in the order in which its session was given the properties.
    package(set) public var rendition = 0
    /// The number of bytes, start codes included.
    public fileprivate(set) var count = 0

    /// The memory for the bytes; the padding follows it.
    fileprivate var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(codec: Codec) { self.codec = codec }

    deinit { storage.deallocate() }

    /// The number of bytes that fit before the storage grows.
    var capacity: Int { storage.count }

    /// Provides access to the bytes, which must not be used after the call.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }

    /// A copy of the bytes: NAL units after `00 00 00 01`, parameter sets ahead of each IDR picture.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Makes room for `minimumCapacity` bytes. The content is kept.
    fileprivate func reserveCapacity(_ minimumCapacity: Int) {
        guard minimumCapacity > storage.count else { return }
        let capacity = max(minimumCapacity, storage.count + storage.count / 2)
        let grown = UnsafeMutableRawBufferPointer(
            start: .allocate(byteCount: capacity + Self.paddingLength, alignment: 16), count: capacity)
        grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<count]))
        storage.deallocate()
        storage = grown
    }

    /// Zeroes the padding, which is always allocated after the storage.
    fileprivate func pad() {
        guard let base = storage.baseAddress else { return }
        UnsafeMutableRawBufferPointer(start: base + count, count: Self.paddingLength)
            .initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Clears the content, and frees the storage if it is larger than `maximumCapacity`.
    fileprivate func reset(maximumCapacity: Int) {
        count = 0
        units.removeAll(keepingCapacity: units.capacity <= AccessUnitBuilder.retainedUnitCapacity)
        if storage.count > maximumCapacity {
            storage.deallocate()
            storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
    }
}

/// The only writer of an `AccessUnit`. An `AccessUnitPool` makes builders.
///
/// If a builder goes out of scope unfinished, its access unit returns to the pool.
public struct AccessUnitBuilder: ~Copyable {
    /// The largest list of units whose memory is kept from one picture to the next.
    static let retainedUnitCapacity = 1024

    private let accessUnit: AccessUnit

    /// Takes over an access unit to which only the caller holds a reference.
    init(filling accessUnit: AccessUnit, maximumCapacity: Int) {
        accessUnit.reset(maximumCapacity: maximumCapacity)
        self.accessUnit = accessUnit
    }

    /// Makes room for `byteCount` bytes, start codes included, so that appending them does not allocate.
    public mutating func reserveCapacity(_ byteCount: Int) {
        accessUnit.reserveCapacity(byteCount)
    }

    /// Appends a start code of four bytes and a copy of a NAL unit, given without start code.
    ///
    /// Precondition: the unit has at least its header.
    public mutating func append(_ unit: RawSpan) {
        guard let header = NALUnitHeader(of: unit, codec: accessUnit.codec) else {
            preconditionFailure("a NAL unit has at least a header")
        }
        let start = accessUnit.count + AccessUnit.startCodeLength
        let end = start + unit.byteCount
        accessUnit.reserveCapacity(end)
        let storage = accessUnit.storage
        unit.withUnsafeBytes { bytes in
            // In bounds: `reserveCapacity` has made room up to `end`.
            storage.storeBytes(of: UInt32(1).bigEndian, toByteOffset: accessUnit.count, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: storage[start..<end]).copyMemory(from: bytes)
        }
        accessUnit.units.append(AccessUnit.Unit(header: header, bytes: start..<end))
        accessUnit.count = end
    }

    /// Finishes the access unit and returns it, immutable from now on.
    ///
    /// - Parameters:
    ///   - isIDR: whether the picture is an IDR picture.
    ///   - frameNumber: the picture's position in the recording, from 0.
    ///   - sequence: the driver's sequence number of the picture.
    ///   - timestamp: when the picture was captured.
    public consuming func finish(isIDR: Bool, frameNumber: Int, sequence: UInt32, timestamp: Instant)
        -> AccessUnit
    {
        accessUnit.isIDR = isIDR
        accessUnit.rendition = 0
        accessUnit.frameNumber = frameNumber
        accessUnit.sequence = sequence
        accessUnit.timestamp = timestamp
        accessUnit.pad()
        return accessUnit
    }
}

// MARK: - Sequence parameter set

extension AccessUnit {
    /// The frame rate in the VUI of the access unit's first sequence parameter set; `nil` without such a
    /// set or rate. Parses the whole set and allocates: use it once per stream, not once per picture.
    public var statedFrameRate: FrameRate? {
        guard let set = units.first(where: { $0.header.parameterSetKind == .sequence }) else { return nil }
        return withUnsafeBytes { buffer in
            let nalUnit = buffer.bytes.extracting(set.bytes)
            return switch codec {
            case .h264: (try? H264.SequenceParameterSet(nalUnit))?.frameRate
            case .hevc: (try? H265.SequenceParameterSet(nalUnit))?.frameRate
            }
        }
    }
}

extension AccessUnit {
    /// The NAL unit of the first sequence parameter set, without start code; `nil` if the access unit has
    /// no such set. Allocates.
    public var sequenceParameterSet: [UInt8]? {
        guard let set = units.first(where: { $0.header.parameterSetKind == .sequence }) else { return nil }
        return withUnsafeBytes { Array($0[set.bytes]) }
    }
}

// MARK: - Pool

/// Provides access units and reuses their storage, without allocations in the steady state.
///
/// Only the encoding thread uses a pool. Access units may go to any thread. `makeBuilder()` reuses an
/// access unit to which only the pool still holds a reference.
public final class AccessUnitPool {
    /// The size in bytes up to which storage is kept even if recent pictures were smaller.
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
    ///   - limit: how many access units are kept for reuse. Further access units are allocated and freed
    ///     one by one.
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

    /// Four times the largest recent access unit: enough for a keyframe, while the storage of an outlier is
    /// freed.
    private var maximumCapacity: Int { max(Self.minimumRetainedCapacity, 4 * recentPeak) }

    private func takeAccessUnit() -> AccessUnit {
        for _ in accessUnits.indices {
            let index = next
            next = next + 1 < accessUnits.count ? next + 1 : 0
            // The pool holds the only reference and only this thread can copy it, so no reader is left.
            if holdsOnlyReference(to: &accessUnits[index]) {
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

// MARK: - Where a consumer may begin

/// Keeps a stream decodable for a consumer that comes late, is slow, or returns: it gets no picture before a keyframe,
/// and then all of them.
///
/// Coded pictures depend on earlier ones, so a single one is never left out: the gate closes instead, and opens at the
/// next keyframe.
package struct KeyframeGate: Sendable, Hashable {
    /// Whether the latest picture passed.
    package private(set) var isOpen = false

    /// Creates a closed gate.
    package init() {}

    /// Lets nothing pass until the next keyframe.
    package mutating func close() { isOpen = false }

    /// Returns whether the next picture passes.
    /// - Parameters:
    ///   - isKeyframe: whether decoding can begin with it.
    ///   - hasRoom: whether the consumer can take it; if not, the gate closes.
    package mutating func admits(isKeyframe: Bool, hasRoom: Bool = true) -> Bool {
        if !hasRoom { isOpen = false } else if isKeyframe { isOpen = true }
        return isOpen
    }
}
