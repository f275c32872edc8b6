@_exported import CamPlatform

/// A raw or compressed picture: a buffer from the pool of a stream, while its owner holds it.
///
/// The owner may read it from any thread. When it is destroyed, its index goes to the mailbox of the pool,
/// and the capture thread, which alone talks to the camera, queues it again (VIDIOC_QBUF).
public struct PixelBuffer: ~Copyable, Sendable {
    private let pool: PixelBufferPool
    private let index: Int
    private let payloads: InlineArray<3, Payload>
    /// Owns the buffer in place of this; nil if this does.
    private let sharedOwner: SharedPixelBuffer?
    /// Whether a shared object owns this.
    fileprivate var isShared = false

    /// The place of the picture in a memory plane (`data_offset` and `bytesused`).
    package struct Payload: Sendable {
        package var offset: Int
        package var length: Int

        package init(offset: Int = 0, length: Int = 0) {
            self.offset = offset
            self.length = length
        }
    }

    /// The format; the same object for every buffer of a stream, and of the streams that continue it without
    /// a change.
    public let format: PictureFormat
    /// The frame number of the driver. Gaps are dropped frames; the number wraps.
    public let sequence: UInt32
    /// When the picture was captured (start of exposure on uvcvideo).
    public let timestamp: Instant
    /// The generation of the source, set when the source is restarted. Buffers of different generations do
    /// not follow each other, whatever their numbers.
    public var run = 0

    /// Precondition: each payload lies within the memory of the pool and has at least the `minimumLengths` of
    /// the format.
    package init(
        pool: PixelBufferPool, index: Int, payloads: InlineArray<3, Payload>, format: PictureFormat,
        sequence: UInt32, timestamp: Instant
    ) {
        self.pool = pool
        self.index = index
        self.payloads = payloads
        self.format = format
        self.sequence = sequence
        self.timestamp = timestamp
        sharedOwner = nil
        pool.handOut(index)
    }

    /// Creates another view of a picture that `owner` owns.
    fileprivate init(of owner: SharedPixelBuffer) {
        (pool, index, payloads) = (owner.buffer.pool, owner.buffer.index, owner.buffer.payloads)
        (format, sequence, timestamp) = (owner.buffer.format, owner.buffer.sequence, owner.buffer.timestamp)
        run = owner.buffer.run
        sharedOwner = owner
    }

    /// Creates a picture of a program's own.
    /// - Parameters:
    ///   - format: the pixel format, size and color; not a compressed format. Use one object for all pictures: a
    ///     session opens other encoders for another.
    ///   - timestamp: when it is shown, on the clock of the other pictures.
    ///   - fill: writes each plane: its number in `format.planes`, and its memory, rows of `stride` bytes.
    /// - Throws: if the system has no memory or descriptors left.
    public init(
        filling format: PictureFormat, timestamp: Instant,
        _ fill: (_ plane: Int, _ memory: UnsafeMutableRawBufferPointer) -> Void
    ) throws(PixelBufferPoolError) {
        let pool = try PixelBufferPool.allocated(planes: format.minimumLengths)
        var payloads = InlineArray<3, Payload>(repeating: .init())
        for (index, length) in format.minimumLengths.enumerated() { payloads[index].length = length }
        for (number, plane) in format.planes.enumerated() {
            let memory = pool.memory(ofBuffer: 0, plane: plane.memoryPlane)
            fill(
                number,
                UnsafeMutableRawBufferPointer(rebasing: memory[plane.offset..<plane.offset + plane.length]))
        }
        self.init(
            pool: pool, index: 0, payloads: payloads, format: format, sequence: 0, timestamp: timestamp)
    }

    /// The samples of plane `number` of `format.planes`. Valid as long as the buffer lives.
    public func plane(_ number: Int) -> UnsafeRawBufferPointer {
        pool.show(index)
        let plane = format.planes[number]
        let start = payloads[plane.memoryPlane].offset + plane.offset
        return UnsafeRawBufferPointer(
            rebasing: pool.memory(ofBuffer: index, plane: plane.memoryPlane)[start..<start + plane.length])
    }

    /// The bytes that the driver filled in the first memory plane: the picture of a compressed or vendor
    /// format. Valid as long as the buffer lives.
    public var payload: UnsafeRawBufferPointer {
        pool.show(index)
        let payload = payloads[0]
        return UnsafeRawBufferPointer(
            rebasing: pool.memory(ofBuffer: index, plane: 0)[payload.offset..<payload.offset + payload.length]
        )
    }

    /// The number of bytes that the driver filled in each memory plane; 0 for planes that the format does not
    /// have.
    package var lengths: InlineArray<3, Int> { [payloads[0].length, payloads[1].length, payloads[2].length] }

    /// Returns a copy of the picture in the only buffer of another pool, which has three memory planes; nil if it does
    /// not fit.
    package func copy(into room: PixelBufferPool) -> PixelBuffer? {
        pool.show(index)
        var copies = InlineArray<3, Payload>(repeating: .init())
        for plane in 0..<format.pixelFormat.memoryPlaneCount {
            let (payload, memory) = (payloads[plane], room.memory(ofBuffer: 0, plane: plane))
            guard payload.length <= memory.count else { return nil }
            let picture = pool.memory(ofBuffer: index, plane: plane)
            memory.copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: picture[payload.offset..<payload.offset + payload.length]))
            copies[plane].length = payload.length
        }
        return PixelBuffer(
            pool: room, index: 0, payloads: copies, format: format, sequence: sequence, timestamp: timestamp)
    }

    /// The place of the picture in memory shared by devices; nil in other memory. `plane` maps the memory.
    public var shared: SharedPicture? {
        pool.sharedMemory(ofBuffer: index).map {
            SharedPicture(memory: $0, offset: payloads[0].offset, pool: pool)
        }
    }

    /// Sets whether shared memory of the pool stays mapped between pictures, because mapping is slow.
    /// Initially it does.
    public func keepMapped(_ isKept: Bool) { pool.setShown(isKept) }

    /// Makes the caller another owner, who must return the claim once.
    public func retain() -> PixelBufferClaim {
        pool.handOut(index)
        return PixelBufferClaim(pool: pool, index: index, isOfThread: false)
    }

    /// The identity of the picture in a living buffer.
    public struct ID: Equatable, Sendable {
        fileprivate let pool: ObjectIdentifier
        fileprivate let index: Int
        fileprivate let sequence: UInt32
        fileprivate let timestamp: Instant
    }

    /// The identity of the picture.
    public var id: ID {
        ID(pool: ObjectIdentifier(pool), index: index, sequence: sequence, timestamp: timestamp)
    }

    /// The right to return the buffer in place of its owner. A shared buffer is returned by its last owner in any case.
    public var claim: PixelBufferClaim {
        PixelBufferClaim(pool: pool, index: index, isOfThread: true, isShared: isShared || sharedOwner != nil)
    }

    deinit { if sharedOwner == nil { pool.giveBack(index) } }
}

/// A picture that several tasks may hold. Its buffer returns to its pool when none holds it, nor a `view` of it.
public final class SharedPixelBuffer: Sendable {
    /// The picture.
    public let buffer: PixelBuffer

    /// Shares a picture.
    public init(_ buffer: consuming PixelBuffer) {
        buffer.isShared = true
        self.buffer = buffer
    }

    /// The same picture, to be passed on: it keeps this object alive.
    public var view: PixelBuffer { PixelBuffer(of: self) }
}

/// A picture in memory that devices share.
public struct SharedPicture {
    public let memory: DMABuffer
    /// The offset of the picture in the memory.
    public let offset: Int
    /// The buffers of the stream; a camera that is opened again has other buffers.
    public let pool: PixelBufferPool
}

/// Returns a buffer to the pool in place of an owner that shared it, or that never returns it because its
/// thread hangs.
public struct PixelBufferClaim: Sendable {
    private let pool: PixelBufferPool
    private let index: Int
    /// Whether the owner is a thread that hangs.
    private let isOfThread: Bool
    /// Whether others own the buffer as well.
    private let isShared: Bool

    fileprivate init(pool: PixelBufferPool, index: Int, isOfThread: Bool, isShared: Bool = false) {
        (self.pool, self.index, self.isOfThread, self.isShared) = (pool, index, isOfThread, isShared)
    }

    /// Returns the buffer. The owner must not return it, too. The owner may still read the memory, which
    /// stays mapped as long as the owner lives, but will find another picture in it.
    public func giveBack() {
        guard !isShared else { return }
        if isOfThread { pool.keepShown(index) }
        pool.giveBack(index)
    }
}

// MARK: Exposure

/// The exposure of a picture, as far as the camera driver reports it.
public struct Exposure: Sendable, Hashable {
    /// The exposure time; nil if unknown.
    public let time: Duration?
    /// The sensitivity as an ISO speed; nil if unknown.
    public let sensitivity: Int?

    /// Nil if both values are unknown.
    public init?(time: Duration?, sensitivity: Int?) {
        guard time != nil || sensitivity != nil else { return nil }
        (self.time, self.sensitivity) = (time, sensitivity)
    }
}
