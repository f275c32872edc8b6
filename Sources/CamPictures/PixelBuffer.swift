import CamPlatform

/// A buffer from a stream's pool while its owner holds it: a picture, raw or compressed.
///
/// Its owner may read it from any thread. When it is destroyed, its index is posted to the pool's mailbox and
/// the capture thread, which alone talks to the camera, queues it again (VIDIOC_QBUF).
public struct PixelBuffer: ~Copyable, Sendable {
    private let pool: PixelBufferPool
    private let index: Int
    private let payloads: InlineArray<3, Payload>

    /// Where in a memory plane the driver put the picture (`data_offset` and `bytesused`).
    package struct Payload: Sendable {
        package var offset: Int
        package var length: Int

        package init(offset: Int = 0, length: Int = 0) {
            self.offset = offset
            self.length = length
        }
    }

    /// The same object for every buffer of a stream, and of the streams that continue it, as long as nothing
    /// of it changes.
    public let format: PictureFormat
    /// The driver's number of the frame. Gaps are frames that it dropped; it wraps.
    public let sequence: UInt32
    /// When the picture was captured (start of exposure on uvcvideo).
    public let timestamp: Instant
    /// The source's generation. Buffers of two generations do not follow each other, whatever their numbers
    /// say. Set when the source is restarted.
    public var run = 0

    /// The caller has checked that each payload lies within the pool's memory and holds at least the
    /// format's `minimumLengths`.
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
        pool.handOut(index)
    }

    /// The samples of plane `number` of `format.planes`. Valid as long as the buffer lives.
    public func plane(_ number: Int) -> UnsafeRawBufferPointer {
        pool.show(index)
        let plane = format.planes[number]
        let start = payloads[plane.memoryPlane].offset + plane.offset
        return UnsafeRawBufferPointer(
            rebasing: pool.memory(ofBuffer: index, plane: plane.memoryPlane)[start..<start + plane.length])
    }

    /// The bytes the driver filled in the first memory plane: a compressed or vendor format's picture.
    /// Valid as long as the buffer lives.
    public var payload: UnsafeRawBufferPointer {
        pool.show(index)
        let payload = payloads[0]
        return UnsafeRawBufferPointer(
            rebasing: pool.memory(ofBuffer: index, plane: 0)[payload.offset..<payload.offset + payload.length]
        )
    }

    /// The bytes that the driver filled in each memory plane; 0 for those that the format does not have.
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

    /// Where the picture lies in memory that devices share; nil in other memory. `plane` maps it.
    public var shared: SharedPicture? {
        pool.sharedMemory(ofBuffer: index).map {
            SharedPicture(memory: $0, offset: payloads[0].offset, pool: pool)
        }
    }

    /// Whether the processor keeps seeing shared memory between pictures, which is slow to begin with; the first answer is
    /// yes. It applies to all buffers of the pool.
    public func keepMapped(_ isKept: Bool) { pool.setShown(isKept) }

    /// Makes the caller another owner, who must give the claim back once.
    public func retain() -> PixelBufferClaim {
        pool.handOut(index)
        return PixelBufferClaim(pool: pool, index: index, isOfThread: false)
    }

    /// Tells a living buffer's picture from every other.
    public struct ID: Equatable, Sendable {
        fileprivate let pool: ObjectIdentifier
        fileprivate let index: Int
        fileprivate let sequence: UInt32
        fileprivate let timestamp: Instant
    }

    /// Tells its picture from every other.
    public var id: ID {
        ID(pool: ObjectIdentifier(pool), index: index, sequence: sequence, timestamp: timestamp)
    }

    /// The right to give the buffer back instead of its owner.
    public var claim: PixelBufferClaim { PixelBufferClaim(pool: pool, index: index, isOfThread: true) }

    deinit { pool.giveBack(index) }
}

/// A picture in memory that devices share.
public struct SharedPicture {
    public let memory: DMABuffer
    /// Where in the memory the picture begins.
    public let offset: Int
    /// The stream's buffers; a camera that is opened again has others.
    public let pool: PixelBufferPool
}

/// Returns a buffer to the pool in place of its owner: one that did not own it alone, or never will return it, because its
/// thread hangs forever.
public struct PixelBufferClaim: Sendable {
    private let pool: PixelBufferPool
    private let index: Int
    /// Whether the owner is a thread that hangs.
    private let isOfThread: Bool

    fileprivate init(pool: PixelBufferPool, index: Int, isOfThread: Bool) {
        (self.pool, self.index, self.isOfThread) = (pool, index, isOfThread)
    }

    /// The owner may still read the memory, which stays mapped as long as the owner lives, but will find another
    /// picture there. It must not give the buffer back as well.
    public func giveBack() {
        if isOfThread { pool.keepShown(index) }
        pool.giveBack(index)
    }
}

// MARK: Exposure

/// How a picture was exposed, as far as the camera's driver says.
public struct Exposure: Sendable, Hashable {
    /// How long; nil if unknown.
    public let time: Duration?
    /// The sensitivity as an ISO speed; nil if unknown.
    public let sensitivity: Int?

    /// Nil if nothing is known.
    public init?(time: Duration?, sensitivity: Int?) {
        guard time != nil || sensitivity != nil else { return nil }
        (self.time, self.sensitivity) = (time, sensitivity)
    }
}
