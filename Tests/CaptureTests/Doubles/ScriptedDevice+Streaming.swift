import CamPictures
import Testing
import CamPlatform

@testable import Capture

extension ScriptedDevice {
    static let path = "/dev/scripted0"

    /// A multi-planar NV12 camera of 640x480 with a padded stride.
    static func multiPlanar() -> ScriptedDevice {
        let device = ScriptedDevice()
        device.isMultiPlanar = true
        device.capabilities = 0x0000_1000 | 0x0400_0000
        device.formats = [Format(pixelFormat: .nv12MultiPlanar)]
        device.strides = [704, 704]
        device.lengths = [704 * 480, 704 * 240] as [UInt32]
        return device
    }

    convenience init(_ events: [Event]) {
        self.init()
        self.events = events
    }

    func camera() throws(CaptureError) -> Camera { try Camera(path: Self.path, calls: self) }

    func stream(_ request: CaptureRequest = CaptureRequest()) throws(CaptureError) -> CameraStream {
        let stream = try camera().makeStream(request)
        try stream.start()
        return stream
    }

    /// The result of opening, starting and taking frames until it failed.
    func failure(_ request: CaptureRequest = CaptureRequest()) -> CaptureError.Kind? {
        do throws(CaptureError) {
            let stream = try stream(request)
            while try stream.nextSequence() != nil {}
            return nil
        } catch {
            return error.kind
        }
    }
}

extension CaptureStream {
    /// The next picture's number; nil if the stream ended.
    func nextSequence() throws(CaptureError) -> UInt32? {
        switch try nextBuffer() {
        case .buffer(let buffer): buffer.sequence
        case .end: nil
        case .interrupted: nil
        }
    }

    /// The next picture, to hold.
    func hold() throws -> HeldBuffer {
        switch try nextBuffer() {
        case .buffer(let buffer): return HeldBuffer(buffer)
        case .end: throw StreamEnded()
        case .interrupted: throw StreamEnded()
        }
    }
}

struct StreamEnded: Error {}

/// A picture that is held until it is released.
final class HeldBuffer {
    // Swift cannot borrow a noncopyable value from a class's optional property, but it can from memory.
    private let buffer = UnsafeMutablePointer<PixelBuffer>.allocate(capacity: 1)
    private var isHeld = true

    init(_ held: consuming PixelBuffer) { buffer.initialize(to: held) }

    deinit {
        letGo()
        buffer.deallocate()
    }

    func letGo() {
        guard isHeld else { return }
        isHeld = false
        buffer.deinitialize(count: 1)
    }

    func retain() -> PixelBufferClaim { buffer.pointee.retain() }

    var sequence: UInt32 { buffer.pointee.sequence }
    var timestamp: Instant { buffer.pointee.timestamp }
    var payload: [UInt8] { Array(buffer.pointee.payload) }

    /// The picture bytes of each row of a plane, without padding.
    func rows(ofPlane number: Int) -> [[UInt8]] {
        let plane = buffer.pointee.format.planes[number]
        let bytes = buffer.pointee.plane(number)
        return (0..<plane.rows).map { Array(bytes[$0 * plane.stride..<$0 * plane.stride + plane.rowBytes]) }
    }

    /// One byte of a plane.
    func byte(ofPlane number: Int, row: Int, column: Int) -> UInt8 {
        buffer.pointee.plane(number)[row * buffer.pointee.format.planes[number].stride + column]
    }
}
