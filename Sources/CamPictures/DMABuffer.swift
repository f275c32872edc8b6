import CV4L2
import Glibc

/// Memory that devices share (a DMA-BUF of Linux's): a camera writes into it, a GPU reads it. The processor sees it only
/// while it is mapped.
///
/// Safe to use from any thread.
public final class DMABuffer: Sendable {
    /// Its descriptor, valid as long as the object.
    public let descriptor: Int32
    /// In bytes.
    public let length: Int
    /// What a GPU knows the memory by, and what keeps it; nil if another device has allocated it.
    public let owner: (any AnyObject & Sendable)?

    /// Takes over a descriptor.
    package init(adopting descriptor: Int32, length: Int, owner: (any AnyObject & Sendable)? = nil) {
        (self.descriptor, self.length, self.owner) = (descriptor, length, owner)
    }

    deinit { close(descriptor) }

    /// Maps its beginning over memory that is reserved for that.
    /// - Returns: whether that was possible.
    func map(over place: UnsafeMutableRawBufferPointer) -> Bool {
        mmap(place.baseAddress, place.count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0)
            != MAP_FAILED
    }

    /// Announces that the processor begins or ends to read, where a device's caches need to know (dma-buf.h,
    /// DMA_BUF_IOCTL_SYNC). A memory without caches of its own does not answer to that.
    func synchronize(isEnd: Bool) {
        var synchronization = dma_buf_sync()
        synchronization.flags = UInt64(isEnd ? CV4L2_SYNC_END_READING : CV4L2_SYNC_BEGIN_READING)
        _ = withUnsafeMutableBytes(of: &synchronization) {
            cv4l2_ioctl(descriptor, CV4L2_DMA_BUF_SYNC, $0.baseAddress)
        }
    }
}
