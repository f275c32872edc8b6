import CamPictures
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// Slots that another thread may fill.
@Suite(.hangGuard) struct ConversionSlotTests {
    private let format: PictureFormat
    private let memory: PictureMemory
    private let slot: ConversionSlot

    init() throws {
        format = try Film(.yuyv, 64, 48).format
        memory = try PictureMemory(format.size, paddedTo: format.size, layout: .nv12)
        slot = ConversionSlot(try PixelConverter(source: format, layout: .nv12, color: format.color))
    }

    /// A picture of one grey.
    private func picture(_ luma: UInt8, number: Int = 0, format: PictureFormat? = nil) throws -> PixelBuffer {
        try EncoderTests.picture(
            format ?? self.format, [[UInt8](repeating: luma, count: 64 * 48 * 2)], sequence: UInt32(number))
    }

    private var luma: UInt8 { memory.surface.luma.row(47)[0] }

    @Test("a picture that was converted ahead is not converted again")
    func ahead() throws {
        let picture = try picture(50)
        slot.open(on: memory.surface)
        slot.fill(from: picture)
        memory.surface.luma.row(47)[0] = 77
        try slot.take(picture)
        #expect(luma == 77)
        #expect(!slot.isOpen)
    }

    @Test("one that was not is converted when it is taken")
    func late() throws {
        slot.open(on: memory.surface)
        try slot.take(picture(50))
        #expect(luma == 50)
    }

    @Test("a picture that nobody took makes room for the next")
    func stale() throws {
        slot.open(on: memory.surface)
        slot.fill(from: try picture(50))
        let next = try picture(60, number: 1)
        slot.fill(from: next)
        try slot.take(next)
        #expect(luma == 60)
        slot.open(on: memory.surface)
        slot.fill(from: try picture(70, number: 2))
        try slot.take(picture(80, number: 3))
        #expect(luma == 80)
    }

    @Test("neither a closed slot nor one for another format takes a picture")
    func closed() throws {
        memory.surface.luma.row(47)[0] = 1
        slot.fill(from: try picture(50))
        #expect(throws: ConversionError.self) { try slot.take(picture(50)) }
        slot.open(on: memory.surface)
        let other = try picture(50, format: Film(.yuyv, 64, 48, rate: "30").format)
        slot.fill(from: other)
        #expect(throws: ConversionError.self) { try slot.take(other) }
        #expect(luma == 1)
    }

    @Test("what was wrong with a picture is said to the one who takes it")
    func damage() throws {
        let format = try Film(.mjpeg, 64, 48).format
        let slot = ConversionSlot(try PixelConverter(source: format, layout: .nv12, color: format.color))
        let picture = try EncoderTests.picture(format, [[1, 2, 3]])
        slot.open(on: memory.surface)
        slot.fill(from: picture)
        #expect(throws: ConversionError.self) { try slot.take(picture) }
        #expect(!slot.isOpen)
    }

    @Test("closing waits for a thread that is converting")
    func closing() throws {
        let size = try #require(PictureSize(4096, 2160))
        let format = try Film(.yuyv, size.width, size.height).format
        let slot = ConversionSlot(try PixelConverter(source: format, layout: .nv12, color: format.color))
        let picture = Shared(
            try EncoderTests.picture(
                format, [[UInt8](repeating: 90, count: size.width * size.height * 2)]))
        for _ in 0..<20 {
            let memory = try PictureMemory(size, paddedTo: size, layout: .nv12)
            let last = memory.surface.luma.row(size.height - 1)
            last.pointee = 0
            slot.open(on: memory.surface)
            let begun = Atomic<Bool>(false)
            let worker = WorkerThread {
                begun.store(true, ordering: .relaxed)
                slot.fill(from: picture.buffer)
            }
            #expect(eventually { begun.load(ordering: .relaxed) })
            slot.close()
            let atClose = last.pointee
            worker?.join()
            #expect(last.pointee == atClose, "nothing is written any more")
        }
    }

    private final class Shared: Sendable {
        let buffer: PixelBuffer
        init(_ buffer: consuming PixelBuffer) { self.buffer = buffer }
    }
}
