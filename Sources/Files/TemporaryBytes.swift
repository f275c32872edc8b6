/// `withUnsafeTemporaryAllocation` for a closure with typed throws, which Swift 6.2's version does not take.
package func withTemporaryBytes<Value, Failure>(
    count: Int, alignment: Int = 1, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
    let result = withUnsafeTemporaryAllocation(byteCount: count, alignment: alignment) { bytes in
        Result { () throws(Failure) in try body(bytes) }
    }
    return try result.get()
}
