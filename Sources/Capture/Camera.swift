import CV4L2
import CamPictures
import CamPlatform
import Glibc

/// An open V4L2 capture node that is not streaming yet.
///
/// The types say which call is allowed when: an open camera can be queried and set up, starting it consumes
/// it, and the resulting stream can only deliver.
public struct Camera: ~Copyable {
    /// Which camera it is.
    public let identity: SourceIdentity

    let device: V4L2Device
    let isMultiPlanar: Bool

    /// Opens a capture node by its path or a link to it.
    public init(path: String) throws(CaptureError) {
        try self.init(path: path, calls: KernelCalls())
    }

    init(path: String, calls: any V4L2Calls) throws(CaptureError) {
        let device = try V4L2Device(path: path, calls: calls)
        let capability = try Self.capability(of: device)
        isMultiPlanar = try Self.isMultiPlanar(capability, path: path)
        self.device = device
        identity = SourceIdentity(
            device: path, name: Self.text(capability.card), driver: Self.text(capability.driver),
            bus: Self.text(capability.bus_info))
    }

    /// Opens the first camera that delivers ordinary pictures. Skips metadata nodes, infrared sensors with
    /// only gray pictures, and nodes whose pipeline must be set up first.
    public static func first() throws(CaptureError) -> Camera {
        try first(of: VideoNode.all(), calls: KernelCalls())
    }

    static func first(of paths: [String], calls: any V4L2Calls) throws(CaptureError) -> Camera {
        var refusal: CaptureError?
        for path in paths {
            do throws(CaptureError) {
                let camera = try Camera(path: path, calls: calls)
                if camera.reservation == nil { return camera }
                if let formats = camera.unreadableFormats {
                    refusal = refusal ?? camera.device.error(.unreadable(formats))
                }
            } catch {
                if case .permissionDenied = error.kind { refusal = refusal ?? error }
            }
        }
        throw refusal ?? CaptureError(.noCamera, device: "")
    }

    /// Why the camera is used only by name, never as the default; nil if it may be the default camera.
    public var reservation: String? {
        let formats = CameraFormats.pixelFormats(of: device, isMultiPlanar: isMultiPlanar)
        guard formats.contains(where: \.isReadable) else { return "it has no readable format" }
        guard formats.contains(where: { !Self.isGreyOnly($0) && $0.isReadable }) else {
            return "it only has grey pictures, like an infrared sensor"
        }
        return isProcessor ? "it relays the video of another program" : nil
    }

    /// The camera's formats, if camrec can read none of them; otherwise nil.
    public var unreadableFormats: [PixelFormat]? {
        let formats = CameraFormats.pixelFormats(of: device, isMultiPlanar: isMultiPlanar)
        return formats.isEmpty || formats.contains(where: \.isReadable) ? nil : formats
    }

    /// Whether the node outputs pictures that another program feeds in, like an image processor
    /// (bcm2835-isp). Such a node copies their timestamps (V4L2_BUF_FLAG_TIMESTAMP_COPY); a camera takes the
    /// time itself.
    ///
    /// Only a buffer shows that, so a node in use is not examined.
    private var isProcessor: Bool {
        guard device.calls.lock(device.descriptor) >= 0 else { return false }
        defer { device.calls.unlock(device.descriptor) }
        let requests = V4L2BufferRequest(
            type: V4L2BufferType.capture(isMultiPlanar), isMultiPlanar: isMultiPlanar)
        // Request as many as for a stream: v4l2loopback keeps to the smallest number ever requested.
        guard allocate(CameraBuffers.wanted) else { return false }
        defer { _ = allocate(0) }
        var buffer = requests.make()
        guard device.control(CV4L2_QUERYBUF, &buffer) >= 0 else { return false }
        return buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY)
    }

    private func allocate(_ count: UInt32) -> Bool {
        var request = v4l2_requestbuffers()
        request.count = count
        request.type = V4L2BufferType.capture(isMultiPlanar)
        request.memory = V4L2_MEMORY_MMAP.rawValue
        return device.control(CV4L2_REQBUFS, &request) >= 0
    }

    /// Whether another program streams from the camera. A program that only has it open does not block
    /// others.
    ///
    /// Releasing buffers that were never allocated changes nothing, and is refused with EBUSY if another
    /// program has some (V4L2 specification, VIDIOC_REQBUFS).
    public var isBusy: Bool {
        var request = v4l2_requestbuffers()
        request.type = V4L2BufferType.capture(isMultiPlanar)
        request.memory = V4L2_MEMORY_MMAP.rawValue
        return device.control(CV4L2_REQBUFS, &request) == -EBUSY
    }

    /// Every format, size and rate that the camera offers.
    public var formats: [CameraFormat] { CameraFormats.all(of: device, isMultiPlanar: isMultiPlanar) }

    /// The possible values of `CaptureRequest.input`, and the number of the current one.
    public var inputs: (all: [VideoInput], current: Int?) {
        let inputs = VideoInputs(device: device)
        return (inputs.inputs, inputs.currentInput)
    }

    /// The possible values of `CaptureRequest.standard` at the current input, and the current one.
    public var standards: (all: [VideoStandard], current: VideoStandard?) {
        let inputs = VideoInputs(device: device)
        return (inputs.standards, inputs.currentStandard)
    }

    /// Every control that the camera has, with its value.
    public var controls: [CameraControl] { CameraControls(device: device).all() }

    /// Sets the format, size and rate, then the controls, and returns the stream, ready to be started. If the
    /// driver names no rate, the rate of the first second's pictures is used.
    /// - Parameter former: the format of the stream that this one continues. If nothing in it has changed, it
    ///   stays the same object.
    /// - Parameter sharing: the device that reads the pictures instead of the processor.
    public consuming func makeStream(
        _ request: CaptureRequest, continuing former: PictureFormat? = nil,
        sharing: (any SharedMemorySource)? = nil
    ) throws(CaptureError) -> CameraStream {
        try device.claim()
        sharing?.prepare()
        try VideoInputs(device: device).select(request)
        let settled = try FormatNegotiation(device: device, isMultiPlanar: isMultiPlanar).settle(request)
        var granted = settled.format
        // The rate measured the first time need not be measured again.
        if !settled.isRateKnown, let former { granted = granted.at(former.frameRate) ?? granted }
        let format = former.flatMap { $0 == granted ? $0 : nil } ?? granted
        let stream = try CameraStream(
            device: device, identity: identity, isMultiPlanar: isMultiPlanar, format: format,
            sharing: sharing)
        try stream.setControls(request)
        if !settled.isRateKnown, former == nil { stream.measureRate() }
        return stream
    }

    private static func isGreyOnly(_ format: PixelFormat) -> Bool {
        // Infrared sensors: GREY, Y10, Y12, Y16 and their packed variants.
        format == .grey || format.description.hasPrefix("Y1") || format.description.hasPrefix("Y8")
    }

    private static func capability(of device: V4L2Device) throws(CaptureError) -> v4l2_capability {
        var capability = v4l2_capability()
        let result = device.control(CV4L2_QUERYCAP, &capability)
        guard result >= 0 else {
            if result == -ENOTTY || result == -EINVAL {
                let isFile = DeviceNode.isCharacterDevice(device.path) == false
                throw device.error(
                    .notACaptureDevice(
                        isFile
                            ? "it is a file, and video files must be named .y4m" : "it does not support V4L2"
                    ))
            }
            throw device.failure("VIDIOC_QUERYCAP", result)
        }
        return capability
    }

    /// `device_caps` describes this node, `capabilities` the whole device.
    private static func isMultiPlanar(
        _ capability: v4l2_capability, path: String
    ) throws(CaptureError) -> Bool {
        func refuse(_ reason: String) -> CaptureError {
            CaptureError(.notACaptureDevice(reason), device: path)
        }
        let hasDeviceCaps = capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        let caps = hasDeviceCaps ? capability.device_caps : capability.capabilities
        func has(_ flag: some BinaryInteger) -> Bool { caps & UInt32(truncatingIfNeeded: flag) != 0 }
        if has(V4L2_CAP_META_CAPTURE), !has(V4L2_CAP_VIDEO_CAPTURE) {
            throw refuse("it only delivers metadata")
        }
        if has(V4L2_CAP_IO_MC) {
            throw refuse("its pipeline must be set up with media-ctl first")
        }
        guard has(V4L2_CAP_VIDEO_CAPTURE) || has(V4L2_CAP_VIDEO_CAPTURE_MPLANE) else {
            throw refuse("it outputs or processes video, or is not a camera")
        }
        guard has(V4L2_CAP_STREAMING) else { throw refuse("its driver cannot stream into memory") }
        return !has(V4L2_CAP_VIDEO_CAPTURE)
    }

    private static func text<Tuple>(_ field: Tuple) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

// MARK: Nodes

/// The video device nodes of this machine.
public enum VideoNode {
    /// `/dev/video0`, `/dev/video1`, …, in the order of their numbers.
    public static func all() -> [String] {
        let numbers = Folder.names(in: "/dev").compactMap { name in
            name.hasPrefix("video") ? Int(name.dropFirst(5)) : nil
        }
        return numbers.sorted().map { "/dev/video\($0)" }
    }
}
