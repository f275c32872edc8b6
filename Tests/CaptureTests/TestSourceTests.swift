import CamPictures
import TestSupport
import Testing
import CamPlatform

@testable import Capture

/// The camera for machines without one.
@Suite struct TestSourceTests {
    private func source(
        _ format: PixelFormat = .nv12, size: PictureSize? = PictureSize(320, 240), isPaced: Bool = false,
        rate: Int = 30, clock: ScriptedClock = ScriptedClock()
    ) throws -> TestSource {
        try TestSource(
            CaptureRequest(size: size, frameRate: FrameRate(rate), pixelFormat: format), isPaced: isPaced,
            clock: clock)
    }

    /// The colour at a pixel, as limited-range luma and chroma, or as red, green and blue.
    private func sample(_ picture: HeldBuffer, _ format: PixelFormat, x: Int, y: Int) -> [UInt8] {
        func byte(_ plane: Int, _ row: Int, _ column: Int) -> UInt8 {
            picture.byte(ofPlane: plane, row: row, column: column)
        }
        switch format.arrangement {
        case .semiPlanar(let across, let down, let first):
            let pair = [0, 1].map { byte(1, y / down, x / across * 2 + $0) }
            return [byte(0, y, x)] + (first == .cb ? pair : pair.reversed())
        case .planar(let horizontal, let vertical, let first):
            let chroma = [1, 2].map { byte($0, y / vertical, x / horizontal) }
            return [byte(0, y, x)] + (first == .cb ? chroma : chroma.reversed())
        case .packed422(let order):
            let four = (0..<4).map { byte(0, y, x / 2 * 4 + $0) }
            return switch order {
            case .yuyv: [four[x % 2 * 2], four[1], four[3]]
            case .uyvy: [four[x % 2 * 2 + 1], four[0], four[2]]
            case .yvyu: [four[x % 2 * 2], four[3], four[1]]
            }
        case .rgb(let bytes, let red, let green, let blue):
            return [red, green, blue].map { byte(0, y, x * bytes + $0) }
        default:
            return [byte(0, y, x)]
        }
    }

    /// The number in the row of blocks at the top, or in another row.
    private func number(in picture: HeldBuffer, _ format: PixelFormat, y: Int = 0) -> Int {
        (0..<16).reduce(0) { number, block in
            number << 1 | (sample(picture, format, x: block * 16 + 8, y: y + 8)[0] > 128 ? 1 : 0)
        }
    }

    /// Limited-range BT.601 of an RGB sample, rounded.
    private func luma(_ rgb: [UInt8]) -> Double {
        16 + (65.738 * Double(rgb[0]) + 129.057 * Double(rgb[1]) + 25.064 * Double(rgb[2])) / 256
    }

    @Test("every format draws the same picture", arguments: PixelFormat.inOnePiece)
    func samePicture(format: PixelFormat) throws {
        let reference = try source(.yuv444Planar)
        let other = try source(format)
        let expected = try reference.hold()
        let picture = try other.hold()
        for y in stride(from: 0, to: 240, by: 7) {
            for x in stride(from: 0, to: 320, by: 9) {
                let wanted = sample(expected, .yuv444Planar, x: x, y: y)
                let found = sample(picture, format, x: x, y: y)
                switch format.arrangement {
                case .rgb: #expect(abs(luma(found) - Double(wanted[0])) <= 1.5, "at \(x),\(y)")
                case .grey: #expect(found == [wanted[0]], "at \(x),\(y)")
                default: #expect(found == wanted, "at \(x),\(y)")
                }
            }
        }
    }

    @Test("the frame's number is readable from its blocks", arguments: PixelFormat.inOnePiece)
    func numbers(format: PixelFormat) throws {
        let source = try source(format)
        for frame in 0..<40 {
            let picture = try source.hold()
            #expect(number(in: picture, format) == frame)
            #expect(picture.sequence == UInt32(frame))
        }
    }

    @Test("redrawing a buffer gives the same as drawing a new one")
    func drawnOver() throws {
        let used = try source(.yuyv)
        for _ in 0..<100 { _ = try used.nextSequence() }
        let fresh = try source(.yuyv)
        let format = fresh.format
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: format.minimumLengths[0], alignment: 16)
        defer { memory.deallocate() }
        TestPattern(format: format).draw(frame: 100, time: nil, over: nil, into: memory)
        #expect(try used.hold().payload == Array(memory))
    }

    @Test(
        "draws any size, odd and tiny ones too",
        arguments: [(1, 1), (2, 2), (3, 1), (1, 3), (17, 33), (319, 241), (1921, 5)])
    func sizes(width: Int, height: Int) throws {
        for format in PixelFormat.inOnePiece {
            let source = try source(format, size: PictureSize(width, height))
            for frame in 0..<UInt32(3) { #expect(try source.nextSequence() == frame) }
        }
    }

    @Test("refuses what it cannot draw", arguments: [PixelFormat.h264, .nv12MultiPlanar])
    func refuses(format: PixelFormat) {
        #expect(throws: CaptureError.self) { try source(format) }
    }

    @Test("paced, delivers a picture every frame interval, however long the last one took")
    func paced() throws {
        let clock = ScriptedClock()
        let source = try source(isPaced: true, rate: 25, clock: clock)
        let start = clock.now
        for frame in 0..<10 {
            let picture = try source.hold()
            #expect(clock.now - start == .milliseconds(40) * frame)
            #expect(picture.timestamp == clock.now)
        }
        #expect(source.losses.droppedByDriver == 0)
        #expect(source.isLive)
    }

    @Test("paced, draws each picture's time of capture", arguments: [PixelFormat.nv12, .yuyv, .rgb24])
    func times(format: PixelFormat) throws {
        let source = try source(format, isPaced: true, rate: 25)
        for _ in 0..<10 {
            let picture = try source.hold()
            let time = number(in: picture, format, y: 208) << 16 | number(in: picture, format, y: 224)
            #expect(time == Int(picture.timestamp.nanoseconds / 1000))
        }
    }

    @Test("paced, loses and counts frames while every buffer is held")
    func drops() throws {
        let clock = ScriptedClock()
        let source = try source(isPaced: true, rate: 25, clock: clock)
        let held = try (0..<source.bufferCount).map { _ in try source.hold() }
        // The last of them came at 360 ms; 400, 440 and 480 pass before one is released.
        clock.after(.milliseconds(130)) { held[3].letGo() }
        let next = try source.hold()
        #expect(next.sequence == 13)
        #expect(source.losses.droppedByDriver == 3)
        #expect(number(in: next, .nv12) == 13)
        #expect(number(in: held[0], .nv12) == 0)
    }

    @Test("unpaced, it waits for a buffer and loses nothing")
    func waits() throws {
        let clock = ScriptedClock()
        let source = try source(clock: clock)
        let held = try (0..<source.bufferCount).map { _ in try source.hold() }
        clock.after(.seconds(3600)) { held[0].letGo() }
        #expect(try source.hold().sequence == UInt32(held.count))
        #expect(source.losses.droppedByDriver == 0)
        #expect(!source.isLive)
    }

    @Test("a cancellation ends a wait for the next frame, and every later one")
    func cancellation() throws {
        let clock = ScriptedClock()
        let source = try source(isPaced: true, rate: 1, clock: clock)
        #expect(try source.nextSequence() == 0)
        let interrupter = source.interrupter
        clock.after(.milliseconds(10)) { interrupter.interrupt() }
        #expect(try source.nextSequence() == nil)
        #expect(clock.now < .start + .milliseconds(1500))
        #expect(try source.nextSequence() == nil)
    }
}

/// What is refused before opening anything.
@Suite struct CaptureSourceTests {
    private func reason(_ device: String?, _ change: (inout CaptureRequest) -> Void) -> String? {
        var request = CaptureRequest()
        change(&request)
        do throws(CaptureError) {
            try CaptureSource.refuseImpossible(device, request: request)
            return nil
        } catch { return error.description }
    }

    @Test("the test source has no coded format, and a .y4m file only its own")
    func formats() {
        #expect(
            reason("test") { $0.pixelFormat = .h264 }
                == "test: the test source has no H264; try nv12, yuyv, rgb24 or mjpeg")
        #expect(
            reason("a.y4m") { $0.pixelFormat = .nv12 } == "a.y4m: a .y4m file has no NV12; leave out --format"
        )
        for format in [PixelFormat.yuv420, .yuv422Planar, .yuv444Planar, .grey] {
            #expect(reason("a.Y4M") { $0.pixelFormat = format } == nil)
        }
        #expect(reason("test") { $0.pixelFormat = .mjpeg } == nil)
        #expect(reason("/dev/video0") { $0.pixelFormat = .h264 } == nil)
        #expect(reason(nil) { $0.pixelFormat = .h264 } == nil)
    }

    @Test("only cameras have controls, inputs and standards")
    func controls() {
        #expect(
            reason("test") { $0.controls = [ControlSetting(name: "a", value: "1")] }?.contains("controls")
                == true)
        #expect(reason("a.y4m") { $0.standard = "PAL" }?.contains("inputs and standards") == true)
        #expect(reason("/dev/video0") { $0.input = "0" } == nil)
    }

    @Test("a name without a slash that does not exist is a mistake; one with a slash may appear later")
    func names() {
        #expect(reason("tset") { _ in } == "tset: no such device; use --device test")
        #expect(reason("null") { _ in } == "null: no such device; use --device /dev/null")
        #expect(reason("webcam") { _ in } == "webcam: no such device; 'camrec devices' lists the cameras")
        #expect(reason("./tset") { _ in } == nil)
    }

    @Test("pictures are known for the test source, and otherwise as far as they are requested")
    func pictures() {
        let size = PictureSize(64, 48)
        func expected(_ device: String?, _ size: PictureSize?) -> PictureSize? {
            CaptureSource.expectedPictures(device, request: CaptureRequest(size: size)).size
        }
        #expect(expected("test", nil) == PictureSize(1280, 720) && expected("test", size) == size)
        #expect(expected(nil, nil) == nil && expected(nil, size) == size)
    }
}
