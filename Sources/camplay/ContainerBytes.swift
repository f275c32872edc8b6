/// A container's bytes, from a source that comes only once. Used by one thread.
final class ContainerBytes {
    private let source: any ByteSource
    private let isLive: Bool
    /// What was read of it already.
    private var head: ArraySlice<UInt8>
    private let note: (_ count: Int, _ waited: Bool) -> Void
    /// How the source ended; nil if it has not.
    private(set) var end: Reading?
    /// Why reading failed, which cannot be passed through libavformat.
    private(set) var failure: PlayError?

    /// - Parameters:
    ///   - head: the first bytes, which were read to recognise it.
    ///   - note: called with the number of bytes that were read, 0 in a pause, and whether there was nothing to read before.
    init(
        _ source: any ByteSource, isLive: Bool, head: [UInt8],
        note: @escaping (_ count: Int, _ waited: Bool) -> Void
    ) {
        (self.source, self.isLive, self.head, self.note) = (source, isLive, head[...], note)
    }

    /// Waits for the next bytes.
    /// - Returns: how many; 0 at the end, and negative after a failure.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        if !head.isEmpty {
            let count = min(head.count, room.count)
            room.copyBytes(from: head.prefix(count))
            head.removeFirst(count)
            return count
        }
        do throws(PlayError) {
            while end == nil {
                let waits = isLive && !source.isReady
                switch try source.read(into: room) {
                case .bytes(let count):
                    note(count, waits)
                    return count
                case .pause: note(0, true)
                case let reading: end = reading
                }
            }
            return 0
        } catch {
            failure = error
            return -1
        }
    }
}
