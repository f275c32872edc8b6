/// A libFuzzer input: first bytes that control the target, then the bytes to read.
public struct FuzzInput {
    private var bytes: UnsafeRawBufferPointer

    /// The input that libFuzzer passes to `LLVMFuzzerTestOneInput`, valid during that call.
    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Takes a control byte, in the given range; the lower bound if none is left.
    public mutating func choice(_ range: ClosedRange<Int>) -> Int {
        guard let byte = bytes.first else { return range.lowerBound }
        bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        return range.lowerBound + Int(byte) % range.count
    }

    /// The remaining bytes.
    public var rest: [UInt8] { Array(bytes) }

    /// The remaining bytes, split into chunks whose sizes one control byte determines; each chunk has its own
    /// memory, so that AddressSanitizer detects reads beyond its end.
    ///
    /// Small and large ones alternate: 4 kB in chunks of one or two bytes would take thousands of
    /// allocations, and most of the time.
    public mutating func chunks() -> [[UInt8]] {
        var state = UInt32(choice(0...255))
        var chunks: [[UInt8]] = []
        var position = 0
        while position < bytes.count {
            state = state &* 1_664_525 &+ 1_013_904_223
            let largest = 1 << (Int(state >> 8) % 10)
            let end = min(position + Int(state >> 16) % (largest + 1), bytes.count)
            chunks.append(Array(bytes[position..<end]))
            position = end
        }
        return chunks
    }
}

/// Ends the process if a promise does not hold, which libFuzzer reports as a finding.
public func promise(_ holds: Bool, _ promise: String) {
    if !holds { fatalError("broken promise: \(promise)") }
}
