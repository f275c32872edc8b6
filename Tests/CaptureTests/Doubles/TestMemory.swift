import CamPlatform
import Glibc
import CamPictures

/// Memory with a descriptor, in place of a DMA-BUF.
enum TestMemory {
    /// What its mappings are called in /proc/self/maps.
    static let name = "camrec-test-memory"

    static func descriptor(length: Int) -> Int32? {
        var path = Array("/tmp/\(name)-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        unlink(path)
        guard descriptor >= 0, ftruncate(descriptor, length) == 0 else { return nil }
        return descriptor
    }

    /// A descriptor that cannot be mapped.
    static func invisible() -> Int32? {
        let descriptor = open("/dev/null", O_RDWR)
        return descriptor >= 0 ? descriptor : nil
    }

    /// All of it, for the rest of the test.
    static func map(_ descriptor: Int32) -> UnsafeMutableRawBufferPointer? {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        let mapped = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        return UnsafeMutableRawBufferPointer(start: mapped, count: length)
    }

    /// Whether a mapping of the memory begins at an address.
    static func isMapped(at address: UnsafeRawPointer?) throws -> Bool {
        let start = String(UInt(bitPattern: address), radix: 16)
        let maps = try WholeFile.read("/proc/self/maps", atMost: 1 << 24)
        return String(decoding: maps, as: UTF8.self).split(separator: "\n")
            .contains { $0.hasPrefix("\(start)-") && $0.contains(name) }
    }
}

/// Reads pictures in a camera's place, as a GPU does.
final class TestReader: SharedMemorySource, @unchecked Sendable {
    // Safe to share: used by one thread.
    var readsFormat = true
    /// How long its buffers are; nil if it has none for the format.
    var length: Int?
    /// Whether the processor can see them.
    var areVisible = true
    private(set) var buffers: [DMABuffer] = []
    /// Why it reads nothing any more.
    private(set) var refusal: String?
    var isOver: Bool { refusal != nil }

    init(length: Int?) { self.length = length }

    func reads(_ format: PictureFormat) -> Bool { readsFormat && refusal == nil }

    func prepare() {}

    func giveUp(_ reason: String) { refusal = reason }

    func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]? {
        guard let length else { return nil }
        buffers = (0..<count).compactMap { _ in
            let descriptor = areVisible ? TestMemory.descriptor(length: length) : TestMemory.invisible()
            return descriptor.map { DMABuffer(adopting: $0, length: length) }
        }
        return buffers
    }
}
