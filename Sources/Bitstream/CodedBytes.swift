import CamPlatform
import Glibc

/// The bytes of an access unit: contiguous, with the padding that libavcodec reads beyond their end. They stay valid as long
/// as a decoder refers to them.
///
/// `@unchecked Sendable`: only the assembler writes, and only while it holds the only reference.
package final class CodedBytes: @unchecked Sendable {
    private var start: UnsafeMutableRawPointer?
    var count = 0
    /// The number of bytes that fit before the memory grows.
    private(set) var capacity = 0

    init() {}

    deinit { free(start) }

    /// The bytes, without the padding.
    package var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Makes room for more bytes at the end, and pads.
    /// - Returns: nil if there is no memory; nothing has changed then.
    func makeRoom(for byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        let wanted = count + byteCount
        if wanted > capacity {
            let grown = max(wanted, capacity + capacity / 2, 64 << 10)
            guard let memory = realloc(start, grown + AccessUnit.paddingLength) else { return nil }
            (start, capacity) = (memory, grown)
        }
        guard let start else { return nil }
        let room = UnsafeMutableRawBufferPointer(start: start + count, count: byteCount)
        count = wanted
        // In bounds: the memory is larger than its capacity by the padding.
        UnsafeMutableRawBufferPointer(start: start + count, count: AccessUnit.paddingLength)
            .initializeMemory(as: UInt8.self, repeating: 0)
        return room
    }
}

/// Collects NAL units as they were in the stream.
struct UnitCollection {
    private(set) var bytes = CodedBytes()

    var count: Int { bytes.count }

    /// Adds a NAL unit after its start code.
    /// - Returns: false if it does not fit into the limit or there is no memory.
    mutating func append(
        startCodeLength: Int, _ nalUnit: RawSpan, trailingZeroCount: Int = 0, limit: Int
    ) -> Bool {
        let length = startCodeLength + nalUnit.byteCount + trailingZeroCount
        guard count + length <= limit, let room = bytes.makeRoom(for: length) else { return false }
        room.initializeMemory(as: UInt8.self, repeating: 0)
        room[startCodeLength - 1] = 1
        nalUnit.withUnsafeBytes { unit in
            UnsafeMutableRawBufferPointer(rebasing: room[startCodeLength...].prefix(unit.count))
                .copyMemory(from: unit)
        }
        return true
    }

    /// Adds another collection's units; the result is that of the other `append`.
    mutating func append(_ other: UnitCollection, limit: Int) -> Bool {
        guard other.count > 0 else { return true }
        guard count + other.count <= limit, let room = bytes.makeRoom(for: other.count) else { return false }
        room.copyMemory(from: other.bytes.content)
        return true
    }

    /// Discards all units, and also the memory if it is large or a decoder still refers to it.
    mutating func removeAll() {
        let most = max(Self.retainedByteCount, 4 * bytes.count)
        let isKept = holdsOnlyReference(to: &bytes) && bytes.capacity <= most
        if isKept { bytes.count = 0 } else { bytes = CodedBytes() }
    }

    /// More than most keyframes have.
    private static let retainedByteCount = 1 << 20
}
