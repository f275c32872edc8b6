import CV4L2

/// The system calls that talk to a camera, each returning −errno if it fails. Tests replace them with a
/// scripted device.
protocol V4L2Calls: SourceClock {
    func open(_ path: String) -> Int32
    func close(_ descriptor: Int32)
    /// Takes the node's advisory lock (flock(2)), which closing it releases.
    func lock(_ descriptor: Int32) -> Int32
    func unlock(_ descriptor: Int32)
    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32
    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno>
}

/// An error number, above zero.
struct Errno: Error {
    let code: Int32
}

/// The kernel.
final class KernelCalls: V4L2Calls {
    func open(_ path: String) -> Int32 { cv4l2_open(path, O_RDWR | O_NONBLOCK) }

    func close(_ descriptor: Int32) {
        // A buffer that is still mapped would keep the file open, and the lock held.
        unlock(descriptor)
        _ = CV4L2.close(descriptor)
    }

    func lock(_ descriptor: Int32) -> Int32 { cv4l2_flock(descriptor, LOCK_EX | LOCK_NB) }

    func unlock(_ descriptor: Int32) { _ = cv4l2_flock(descriptor, LOCK_UN) }

    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        cv4l2_ioctl(descriptor, request, argument)
    }

    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
        var address: UnsafeMutableRawPointer?
        let result = cv4l2_mmap(descriptor, length, off_t(offset), &address)
        guard result >= 0, let address else { return .failure(Errno(code: -result)) }
        return .success(UnsafeMutableRawBufferPointer(start: address, count: length))
    }
}
