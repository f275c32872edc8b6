import Glibc

/// Where a Matroska file says that it ends. Detects another file appended to it, which libavformat silently ignores.
enum MatroskaEnd {
    /// EBML's header, and the segment that follows it (RFC 8794, 11.2.1; RFC 9559, 5.1).
    static let header: UInt64 = 0x1A45_DFA3
    private static let segment: UInt64 = 0x1853_8067

    /// What is wrong, in words; nil if nothing is, or the segment does not state its size.
    static func problem(of descriptor: Int32, _ length: Int64) -> String? {
        guard let content = content(of: descriptor), let end = content.end, end < length,
            let next = element(descriptor, at: end), next.identifier == header
        else { return nil }
        return "another file follows at byte \(end) and may be left out; play and convert each one separately"
    }

    /// Whether its segment does not say where it ends, because it was never finished, or ends later.
    static func isMissing(in descriptor: Int32, _ length: Int64) -> Bool {
        content(of: descriptor).map { $0.end.map { $0 > length } ?? true } ?? false
    }

    /// The segment, which has everything but the file's header; `end` is nil if it does not state its size.
    static func content(of descriptor: Int32) -> Element? {
        guard let first = element(descriptor, at: 0), first.identifier == header, let begin = first.end,
            let content = element(descriptor, at: begin), content.identifier == segment
        else { return nil }
        return content
    }

    /// An element of EBML.
    struct Element {
        let identifier: UInt64
        /// Where its content starts.
        let start: Int64
        /// Where it ends; nil if it does not state its size.
        let end: Int64?
    }

    /// Reads the element at an offset; nil if there is none.
    static func element(_ descriptor: Int32, at offset: Int64) -> Element? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 12) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            guard count > 0 else { return nil }
            let bytes = buffer[..<count]
            guard let identifier = number(bytes, hasMarker: true), identifier.length <= 4,
                let size = number(bytes.dropFirst(identifier.length), hasMarker: false)
            else { return nil }
            let start = offset + Int64(identifier.length + size.length)
            // All ones: the size is unknown.
            let isOpen = size.value == UInt64(1) << UInt64(7 * size.length) - 1
            let (end, overflow) = start.addingReportingOverflow(Int64(clamping: size.value))
            return Element(
                identifier: identifier.value, start: start, end: isOpen || overflow ? nil : end)
        }
    }

    /// A number whose first set bit gives its length (RFC 8794, 4).
    static func number(
        _ bytes: Slice<UnsafeMutableBufferPointer<UInt8>>, hasMarker: Bool
    ) -> (value: UInt64, length: Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard bytes.count >= length else { return nil }
        let value = bytes.prefix(length).reduce(0) { $0 << 8 | UInt64($1) }
        return (hasMarker ? value : value & (UInt64(1) << UInt64(7 * length) - 1), length)
    }
}
