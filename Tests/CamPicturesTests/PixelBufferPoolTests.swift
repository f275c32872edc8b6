import Glibc
import Testing

@testable import CamPictures

/// Memory for pictures, whose length is hardly ever a whole number of pages: a page has 4 kB on x86, and 4, 16 or 64 kB
/// on arm64.
@Suite struct PixelBufferPoolTests {
    private static let page = sysconf(Int32(_SC_PAGESIZE))
    static let lengths = Set([1, 4095, 4097, page - 1, page, page + 1, 5 * page / 2]).sorted()

    /// The length of the pages that hold some bytes.
    private func pages(for length: Int) -> Int { (length + Self.page - 1) / Self.page * Self.page }

    private func isFilled(_ memory: UnsafeMutableRawBufferPointer, with value: UInt8) -> Bool {
        memory.allSatisfy { $0 == value }
    }

    private func fill(_ memory: UnsafeMutableRawBufferPointer, with value: UInt8) {
        for place in memory.indices { memory[place] = value }
    }

    @Test("each buffer of ordinary memory has all of its length for itself", arguments: lengths)
    func ordinary(length: Int) throws {
        let pool = try PixelBufferPool.allocated(count: 3, length: length)
        #expect(pool.count == 3)
        for index in 0..<3 { fill(pool.memory(ofBuffer: index, plane: 0), with: UInt8(index + 1)) }
        for index in 0..<3 {
            let memory = pool.memory(ofBuffer: index, plane: 0)
            #expect(memory.count == length && isFilled(memory, with: UInt8(index + 1)))
        }
    }

    @Test("each shared buffer is mapped whole, and hidden and shown with its picture", arguments: lengths)
    func shared(length: Int) throws {
        let pool = try PixelBufferPool.shared([sharedMemory(length), sharedMemory(length)], length: length)
        for index in 0..<2 {
            pool.handOut(index)
            pool.show(index)
            fill(pool.memory(ofBuffer: index, plane: 0), with: UInt8(index + 1))
            pool.giveBack(index)
        }
        pool.setShown(false)
        for index in 0..<2 {
            pool.handOut(index)
            pool.show(index)
            let memory = pool.memory(ofBuffer: index, plane: 0)
            #expect(memory.count == length && isFilled(memory, with: UInt8(index + 1)))
            pool.giveBack(index)
        }
        #expect(pool.takeReturned() == 0b11)
    }

    /// A file in place of a device's memory, which has whole pages.
    private func sharedMemory(_ length: Int) throws -> DMABuffer {
        var path = Array("/tmp/camrec-test-pool-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        unlink(path)
        try #require(descriptor >= 0 && ftruncate(descriptor, pages(for: length)) == 0)
        return DMABuffer(adopting: descriptor, length: length)
    }

    @Test("a driver's memory is replaced up to the end of its last page, and no further", arguments: lengths)
    func left(length: Int) throws {
        let whole = pages(for: length)
        let place = mmap(
            nil, whole + Self.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        try #require(place != MAP_FAILED)
        let region = UnsafeMutableRawBufferPointer(start: place, count: whole + Self.page)
        let next = UnsafeMutableRawBufferPointer(rebasing: region[whole...])
        defer { munmap(next.baseAddress, next.count) }
        fill(region, with: 7)
        do {
            // Unmaps its memory at its end.
            let pool = try PixelBufferPool(
                backing: .mapped, planes: [UnsafeMutableRawBufferPointer(rebasing: region[..<length])],
                planesPerBuffer: 1)
            pool.leaveDriver()
            #expect(isFilled(UnsafeMutableRawBufferPointer(rebasing: region[..<whole]), with: 0))
        }
        #expect(isFilled(next, with: 7))
    }
}
