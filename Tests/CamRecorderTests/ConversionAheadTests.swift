import Bitstream
import Encoder
import CamPictures
import Synchronization
import TestSupport
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamRecorder
@testable import CamConversion

/// Pictures that are converted while others are encoded.
@Suite(.hangGuard) struct ConversionAheadTests {
    private let pictures: Pictures
    private let frames = BoundedQueue<PixelBuffer>(capacity: 32)
    private let memories: [PictureMemory]
    private let slots: [ConversionSlot]

    init() throws {
        pictures = try Pictures(size: PictureSize(64, 48)!)
        let format = pictures.format
        memories = try (0..<3).map { _ in
            try PictureMemory(format.size, paddedTo: format.size, layout: .nv12)
        }
        slots = try (0..<3).map { _ in
            ConversionSlot(try PixelConverter(source: format, layout: .nv12, color: format.color))
        }
    }

    private func push(_ numbers: Range<Int>) {
        for number in numbers { _ = frames.push(pictures.picture(number)) }
    }

    /// Opens slots as an encoder does.
    private func offer(_ ahead: ConversionAhead) {
        ahead.offer { number, list in
            if !slots[number].isOpen { slots[number].open(on: memories[number].surface) }
            list.append(slots[number])
        }
    }

    /// Takes pictures until the end, as the encode thread does.
    /// - Returns: their numbers, and in which slot each was.
    private func takeAll(
        _ ahead: ConversionAhead, whenOffered: () -> Bool
    ) throws -> [(number: Int, slot: Int)] {
        var taken: [(Int, Int)] = []
        while let picture = ahead.pop() {
            taken.append((Int(picture.buffer.sequence), picture.slot))
            if !slots[picture.slot].isOpen { slots[picture.slot].open(on: memories[picture.slot].surface) }
            try slots[picture.slot].take(picture.buffer)
            offer(ahead)
            #expect(whenOffered())
        }
        ahead.stop()
        return taken
    }

    @Test("the next picture is converted while the current one is encoded, and not before it is offered room")
    func ahead() throws {
        let asked = Atomic<Int>(0)
        let ahead = ConversionAhead(frames, limit: 3) { _ in
            asked.wrappingAdd(1, ordering: .relaxed)
            return true
        }
        push(0..<3)
        #expect(ahead.pop()?.buffer.sequence == 0)
        #expect(ahead.heldCount == 0)
        offer(ahead)
        #expect(eventually { ahead.heldCount == 1 && asked.load(ordering: .relaxed) == 1 })
        #expect(!frames.isEmpty, "the third waits where it could be dropped")
        #expect(ahead.pop()?.buffer.sequence == 1)
        #expect(ahead.heldCount == 0)
        frames.close()
        ahead.stop()
    }

    @Test("without slots, and without a limit, pictures come straight from the queue", arguments: [0, 3])
    func direct(limit: Int) {
        let ahead = ConversionAhead(frames, limit: limit) { _ in
            Issue.record("nothing is converted")
            return true
        }
        push(0..<4)
        frames.close()
        var numbers: [UInt32] = []
        while let picture = ahead.pop() {
            numbers.append(picture.buffer.sequence)
            if limit == 0 { offer(ahead) } else { ahead.offer { _, _ in } }
        }
        ahead.stop()
        #expect(numbers == [0, 1, 2, 3])
    }

    @Test("nothing is converted during a pause")
    func paused() throws {
        let ahead = ConversionAhead(frames, limit: 1) { _ in false }
        push(0..<2)
        frames.close()
        _ = ahead.pop()
        memories[0].surface.luma.base[0] = 77
        offer(ahead)
        #expect(ahead.pop()?.buffer.sequence == 1)
        #expect(memories[0].surface.luma.base[0] == 77)
        ahead.stop()
    }

    /// Takes pictures whose conversion takes until the encoder has waited for it, while there are others.
    private func takeSlowly(
        limit: Int, _ count: Int
    ) throws -> (depth: Int, taken: [(number: Int, slot: Int)]) {
        let current = Current()
        let ahead = ConversionAhead(frames, limit: limit) { [frames] picture in
            let number = Int(picture.sequence)
            return eventually {
                guard let load = current.ahead?.load else { return true }
                return load.waits >= number || load.depth == limit || frames.isEmpty
            }
        }
        current.ahead = ahead
        push(0..<30)
        // Then as from a camera: each worker waits for the next.
        let camera = WorkerThread { [frames, pictures] in
            _ = eventually { frames.isEmpty }
            for number in 30..<count {
                _ = frames.push(pictures.picture(number))
                if number % 3 == 0 { _ = eventually { frames.isEmpty } }
            }
            frames.close()
        }
        let taken = try takeAll(ahead) { eventually { ahead.heldCount > 0 || frames.isEmpty } }
        camera?.join()
        current.ahead = nil
        return (ahead.load.depth, taken)
    }

    private final class Current: @unchecked Sendable {
        // Safe to share: set before and after everything else.
        var ahead: ConversionAhead?
    }

    @Test(
        "where conversion keeps the encoder waiting, up to three are made at once, in order",
        arguments: [1, 2, 3])
    func several(limit: Int) throws {
        let (depth, taken) = try takeSlowly(limit: limit, 2000)
        #expect(depth == limit)
        #expect(taken.map(\.number) == Array(0..<2000))
        #expect(Set(taken.map(\.slot)) == Set(0..<limit))
    }

    @Test("an encoder that waits for the camera alone has one")
    func camera() throws {
        let ahead = ConversionAhead(frames, limit: 3) { _ in true }
        push(0..<1)
        _ = ahead.pop()
        for number in 1..<30 {
            offer(ahead)
            push(number..<number + 1)
            #expect(ahead.pop()?.buffer.sequence == UInt32(number))
        }
        #expect(ahead.load.depth == 1)
        frames.close()
        ahead.stop()
    }

    @Test("in a recording, every picture but the first is converted before its turn")
    func inRecording() throws {
        let encoder = SlotEncoder(slots[0], memories[0])
        let sink = ScriptedSink()
        pictures.pool.memory(ofBuffer: 0, plane: 0).initializeMemory(as: UInt8.self, repeating: 200)
        let stream = try ScriptedStream([.pictures(20)], isLive: false, pictures: pictures)
        let recording = try Recording(
            from: Capturing(RecordingSource(stream)),
            session: try CompressionSession([ScriptedProvider([encoder], keyframeInterval: .frames(5))]),
            to: [OutputPlan(sink)], limits: RecordingLimits())
        #expect(recording.finish().error == nil)
        #expect(sink.sequences == (0..<20).map(UInt32.init))
        #expect(encoder.wereConverted == [false] + Array(repeating: true, count: 19))
    }

    /// Notes for each picture whether it was in the slot before it was asked for.
    private final class SlotEncoder: PictureEncoder, @unchecked Sendable {
        // Safe to share: the encode thread's alone, until it has ended.
        private let scripted = ScriptedEncoder()
        private let (conversion, memory): (ConversionSlot, PictureMemory)
        private(set) var wereConverted: [Bool] = []

        init(_ conversion: ConversionSlot, _ memory: PictureMemory) {
            (self.conversion, self.memory) = (conversion, memory)
        }

        private func open() {
            guard !conversion.isOpen else { return }
            memory.surface.luma.base[0] = 77
            conversion.open(on: memory.surface)
        }

        func prepare(_ buffer: borrowing PixelBuffer, in slot: Int) throws(EncoderError) {
            open()
            wereConverted.append(memory.surface.luma.base[0] == 200)
            do throws(ConversionError) { try conversion.take(buffer) } catch { throw EncoderError(error) }
        }

        func slot(_ number: Int) -> ConversionSlot? {
            open()
            return conversion
        }

        func encode(
            _ buffer: borrowing PixelBuffer, as kind: FrameKind, frameNumber: Int
        ) throws(EncoderError) { try scripted.encode(buffer, as: kind, frameNumber: frameNumber) }

        func releasePicture() { scripted.releasePicture() }
        func nextAccessUnit() throws(EncoderError) -> AccessUnit? { try scripted.nextAccessUnit() }
        func drain() throws(EncoderError) { try scripted.drain() }
    }

    @Test("software encoders have slots for pictures that must be decoded, once they have produced something")
    func software() throws {
        for (format, hasSlot) in [(PixelFormat.mjpeg, true), (.nv12, false), (.yuyv, false)] {
            let source = try TestSource(
                CaptureRequest(size: PictureSize(64, 48), pixelFormat: format), isPaced: false)
            let encoder = try SoftwareBackend.open(
                CompressionProperties(), source: source.format, inputs: EncoderInputs(codecs: [.h264]),
                regulator: RateRegulator())
            #expect(encoder.slot(0) == nil, "it would delay the first picture")
            guard case .buffer(let buffer) = try source.nextBuffer() else { return }
            try encoder.encode(buffer, as: .idr, frameNumber: 0)
            #expect(try encoder.nextAccessUnit() != nil)
            #expect((encoder.slot(0) != nil) == hasSlot, "\(format)")
        }
    }

    @Test("a recording of Motion JPEG is the same as without")
    func sameStream() throws {
        let request = CaptureRequest(size: PictureSize(64, 48), pixelFormat: .mjpeg)
        let sink = ScriptedSink()
        let source = try TestSource(request, isPaced: false)
        var software = EncoderRequest()
        software.preference = .software
        let provider = BackendEncoderProvider.providers(
            software, configurations: [CompressionProperties()], source: source.format)[0]
        let recording = try Recording(
            from: Capturing(RecordingSource(source)), session: try CompressionSession([provider]),
            to: [OutputPlan(sink)],
            limits: RecordingLimits(frames: 40))
        #expect(recording.finish().error == nil)
        let other = try TestSource(request, isPaced: false)
        let encoder = try SoftwareBackend.open(
            CompressionProperties(), source: other.format, inputs: EncoderInputs(codecs: [.h264]),
            regulator: RateRegulator())
        var units: [[UInt8]] = []
        while units.count < 40, case .buffer(let buffer) = try other.nextBuffer() {
            try encoder.encode(
                buffer, as: units.count % 30 == 0 ? .idr : .automatic, frameNumber: units.count)
            encoder.releasePicture()
            while let unit = try encoder.nextAccessUnit() { units.append(unit.withUnsafeBytes { Array($0) }) }
        }
        #expect(sink.units.map { $0.withUnsafeBytes { Array($0) } } == units)
    }
}
