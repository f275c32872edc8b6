import CV4L2
import Glibc
import CamPictures
import TestSupport
import CamPlatform

@testable import Capture

/// A V4L2 driver that does what a test tells it, good or bad: formats, buffers in real memory, a queue,
/// sequence numbers, and a clock that moves only during waits.
final class ScriptedDevice: ScriptedTime, V4L2Calls, @unchecked Sendable {
    /// A pixel format that it lists, with sizes and the intervals of each as fractions of a second.
    struct Format {
        var pixelFormat: PixelFormat
        var sizes: [(width: UInt32, height: UInt32)] = [(640, 480)]
        var intervals: [(UInt32, UInt32)] = [(1, 30)]
        var flags: UInt32 = 0
        /// Sizes in steps of two instead, from 16x16 to this.
        var largest: (width: UInt32, height: UInt32)?
        /// The intervals of smaller pictures than the largest.
        var smallIntervals: [(UInt32, UInt32)]?
    }

    /// What happens next, during a wait.
    enum Event {
        case frame(Frame)
        /// A wait that lasts until its deadline.
        case silence
        /// DQBUF fails with this errno.
        case dequeueFails(Int32)
        /// poll says POLLERR, and DQBUF has nothing.
        case pollError
        /// poll fails with this errno.
        case pollFails(Int32)
        /// A source change event with these changes arrives.
        case sourceChanges(UInt32)
        case perform(() -> Void)

        var isAction: Bool { if case .perform = self { true } else { false } }
    }

    /// A frame as the driver delivers it; nil stands for what a well-behaved driver would return.
    struct Frame {
        var sequence: UInt32?
        var flags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        var bytesUsed: UInt32?
        var dataOffset: UInt32 = 0
        var index: UInt32?
        var seconds: Int?
        var fill: UInt8 = 0
        /// What the buffer begins with.
        var bytes: [UInt8] = []
    }

    var card = "Scripted Camera"
    var bus = "usb-1.2"
    var capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE) | UInt32(V4L2_CAP_STREAMING)
    var deviceCaps: UInt32?
    var isMultiPlanar = false
    var formats: [Format] = [Format(pixelFormat: .yuyv)]
    /// Lists that never end: the last entry repeats.
    var listsAreEndless = false
    /// What S_FMT grants instead of parts of the request.
    var grant: (inout v4l2_format) -> Void = { _ in }
    var strides: [UInt32] = [1280]
    var lengths: [UInt32] = [1280 * 480]
    /// What S_PARM grants; nil for the requested rate.
    var grantedInterval: (UInt32, UInt32)?
    /// The bytes of each buffer's memory planes; nil for `lengths`.
    var bufferLengths: [UInt32]?
    /// The content of a buffer that was never filled.
    var bufferFlags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
    /// How many buffers REQBUFS grants; nil for as many as requested.
    /// Fewer than requested, as drivers may.
    var grantedBuffers: UInt32 = 6
    /// Whether it writes into another device's memory.
    var importsMemory = false
    /// Why it refuses that when it sees the memory (an errno); nil if it does not.
    var importFailure: Int32?
    /// Why it does not stream into it (an errno); nil if it does.
    var importedStreamFailure: Int32?
    /// Whether it shares its own memory.
    var exportsMemory = false
    /// Calls that fail, with their errno.
    var failures: [UInt: Int32] = [:]
    /// Calls that fail after a number of successes.
    var laterFailures: [UInt: (after: Int, errno: Int32)] = [:]
    var events: [Event] = []
    /// CROPCAP's pixel aspect, height to width.
    var pixelAspect: (UInt32, UInt32)?
    /// What is cropped, and where it is placed.
    var selections: [Int32: (width: UInt32, height: UInt32)] = [:]
    var inputs: [String] = []
    /// What was set last.
    var input: Int32 = 0
    var standards: [(name: String, bits: UInt64)] = []
    var standard: UInt64 = 0
    /// The field orders that S_FMT can grant; the first replaces others.
    var fields = [V4L2_FIELD_NONE]
    /// Of the signal at its input; nil for a camera.
    var timings: v4l2_bt_timings?
    /// In the order of their identifiers.
    var controls: [Control] = []
    /// The titles of those that were set, in order.
    var controlsSet: [String] = []
    /// The controls whose values were read, by title.
    var controlsRead: [String] = []

    /// The changes that DQEVENT reports next.
    private var pendingChanges: [UInt32] = []

    init() { super.init(now: .start + .seconds(1000)) }

    private(set) var openCount = 0
    private(set) var closeCount = 0
    private(set) var isStreaming = false
    /// Buffers that the driver has, the oldest first.
    private(set) var queued: [Int] = []
    /// Every QBUF, in order.
    private(set) var queueings: [Int] = []
    private(set) var callCount: [UInt: Int] = [:]
    /// How many buffers were requested in whose memory, in order.
    private(set) var requests: [(count: UInt32, memory: v4l2_memory)] = []
    private var memory: [Int: UnsafeMutableRawBufferPointer] = [:]
    private var nextSequence: UInt32 = 0
    private var ready: Event?

    // MARK: V4L2Calls

    /// Whether another recorder holds its lock.
    var isClaimed = false

    func open(_ path: String) -> Int32 {
        openCount += 1
        return 1000
    }

    func lock(_ descriptor: Int32) -> Int32 { isClaimed ? -EWOULDBLOCK : 0 }

    func unlock(_ descriptor: Int32) {}

    func close(_ descriptor: Int32) {
        closeCount += 1
        queued = []
    }

    func map(_ descriptor: Int32, length: Int, offset: Int) -> Result<UnsafeMutableRawBufferPointer, Errno> {
        if let code = failures[Self.mapping] { return .failure(Errno(code: code)) }
        let mapped = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return .failure(Errno(code: errno)) }
        memory[offset] = UnsafeMutableRawBufferPointer(start: mapped, count: length)
        return .success(UnsafeMutableRawBufferPointer(start: mapped, count: length))
    }

    /// Stands for mmap among the calls that can fail.
    static let mapping: UInt = 0

    func poll(_ descriptors: UnsafeMutableBufferPointer<pollfd>, for duration: Duration?) -> Int32 {
        for index in descriptors.indices { descriptors[index].revents = 0 }
        while true {
            // The mailbox is a real eventfd.
            let woken = cv4l2_poll(descriptors.baseAddress, 1, 0)
            if woken > 0 { return woken }
            // Without a buffer, the driver delivers nothing.
            let isListened = descriptors.count > 1
            guard let event = events.first, isListened || event.isAction else {
                // An endless wait in a script without events would hang the test.
                guard let duration else { return -EDEADLK }
                pass(duration)
                return 0
            }
            switch events.removeFirst() {
            case .silence:
                guard let duration else { return -EDEADLK }
                pass(duration)
                return 0
            case .pollFails(let code):
                return -code
            case .pollError:
                pass(.milliseconds(1))
                descriptors[1].revents = Int16(POLLERR)
                return 1
            case .sourceChanges(let changes):
                pendingChanges.append(changes)
                descriptors[1].revents = Int16(POLLPRI)
                return 1
            case .perform(let action):
                action()
            case .frame, .dequeueFails:
                pass(.milliseconds(33))
                ready = event
                descriptors[1].revents = Int16(POLLIN)
                return 1
            }
        }
    }

    func control(_ descriptor: Int32, _ request: UInt, _ argument: UnsafeMutableRawPointer) -> Int32 {
        callCount[request, default: 0] += 1
        if let code = failures[request] { return -code }
        if let later = laterFailures[request], callCount[request, default: 0] > later.after {
            return -later.errno
        }
        switch request {
        case CV4L2_QUERYCAP: return queryCapability(argument.as(v4l2_capability.self))
        case CV4L2_ENUM_FMT: return listFormat(argument.as(v4l2_fmtdesc.self))
        case CV4L2_ENUM_FRAMESIZES: return listSize(argument.as(v4l2_frmsizeenum.self))
        case CV4L2_ENUM_FRAMEINTERVALS: return listInterval(argument.as(v4l2_frmivalenum.self))
        case CV4L2_G_FMT: return currentFormat(argument.as(v4l2_format.self))
        case CV4L2_S_FMT: return setFormat(argument.as(v4l2_format.self))
        case CV4L2_QUERY_DV_TIMINGS: return measureSignal(argument.as(v4l2_dv_timings.self))
        case CV4L2_CROPCAP: return describePixels(argument.as(v4l2_cropcap.self))
        case CV4L2_G_SELECTION: return select(argument.as(v4l2_selection.self))
        case CV4L2_ENUMINPUT: return listInput(argument.as(v4l2_input.self))
        case CV4L2_G_INPUT:
            return inputs.isEmpty ? -ENOTTY : exchange(&input, argument.as(Int32.self), sets: false)
        case CV4L2_S_INPUT: return exchange(&input, argument.as(Int32.self), sets: true)
        case CV4L2_ENUMSTD: return listStandard(argument.as(v4l2_standard.self))
        case CV4L2_G_STD:
            return standards.isEmpty ? -ENODATA : exchange(&standard, argument.as(UInt64.self), sets: false)
        case CV4L2_S_STD: return exchange(&standard, argument.as(UInt64.self), sets: true)
        case CV4L2_G_PARM: return currentInterval(argument.as(v4l2_streamparm.self))
        case CV4L2_S_PARM: return setInterval(argument.as(v4l2_streamparm.self))
        case CV4L2_REQBUFS: return requestBuffers(argument.as(v4l2_requestbuffers.self))
        case CV4L2_EXPBUF: return exportBuffer(argument.as(v4l2_exportbuffer.self))
        case CV4L2_QUERYBUF: return queryBuffer(argument.as(v4l2_buffer.self))
        case CV4L2_QUERY_EXT_CTRL: return queryControl(argument.as(v4l2_query_ext_ctrl.self))
        case CV4L2_QUERYMENU: return queryMenu(argument.as(v4l2_querymenu.self))
        case CV4L2_G_EXT_CTRLS: return readControl(argument.as(v4l2_ext_controls.self))
        case CV4L2_S_EXT_CTRLS: return writeControl(argument.as(v4l2_ext_controls.self))
        case CV4L2_QBUF: return queue(argument.as(v4l2_buffer.self))
        case CV4L2_DQBUF: return dequeue(argument.as(v4l2_buffer.self))
        case CV4L2_DQEVENT: return giveEvent(argument.as(v4l2_event.self))
        case CV4L2_STREAMON:
            if let importedStreamFailure, requests.last?.memory == V4L2_MEMORY_DMABUF {
                return -importedStreamFailure
            }
            isStreaming = true
            return 0
        case CV4L2_STREAMOFF:
            isStreaming = false
            queued = []
            return 0
        default:
            return -ENOTTY
        }
    }

    private func queryCapability(_ answer: UnsafeMutablePointer<v4l2_capability>) -> Int32 {
        withUnsafeMutableBytes(of: &answer.pointee.card) { $0.copyBytes(from: card.utf8.prefix(31)) }
        withUnsafeMutableBytes(of: &answer.pointee.driver) { $0.copyBytes(from: "scripted".utf8) }
        withUnsafeMutableBytes(of: &answer.pointee.bus_info) { $0.copyBytes(from: bus.utf8.prefix(31)) }
        answer.pointee.capabilities = capabilities
        if let deviceCaps {
            answer.pointee.capabilities |= UInt32(V4L2_CAP_DEVICE_CAPS)
            answer.pointee.device_caps = deviceCaps
        }
        return 0
    }
}

extension ScriptedDevice {
    private func entry<Element>(_ list: [Element], _ index: UInt32) -> Element? {
        if listsAreEndless { return list.last }
        return Int(index) < list.count ? list[Int(index)] : nil
    }

    private func listFormat(_ answer: UnsafeMutablePointer<v4l2_fmtdesc>) -> Int32 {
        guard let format = entry(formats, answer.pointee.index) else { return -EINVAL }
        answer.pointee.pixelformat = format.pixelFormat.rawValue
        answer.pointee.flags = format.flags
        return 0
    }

    private func listSize(_ answer: UnsafeMutablePointer<v4l2_frmsizeenum>) -> Int32 {
        let format = formats.first { $0.pixelFormat.rawValue == answer.pointee.pixel_format }
        if let largest = format?.largest {
            guard answer.pointee.index == 0 else { return -EINVAL }
            answer.pointee.type = V4L2_FRMSIZE_TYPE_STEPWISE.rawValue
            answer.pointee.stepwise = v4l2_frmsize_stepwise(
                min_width: 16, max_width: largest.width, step_width: 2, min_height: 16,
                max_height: largest.height, step_height: 2)
            return 0
        }
        guard let size = format.flatMap({ entry($0.sizes, answer.pointee.index) }) else { return -EINVAL }
        answer.pointee.type = V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
        answer.pointee.discrete.width = size.width
        answer.pointee.discrete.height = size.height
        return 0
    }

    private func listInterval(_ answer: UnsafeMutablePointer<v4l2_frmivalenum>) -> Int32 {
        let format = formats.first { $0.pixelFormat.rawValue == answer.pointee.pixel_format }
        let isSmall = format?.largest.map { $0.width > answer.pointee.width } ?? false
        let intervals = (isSmall ? format?.smallIntervals : nil) ?? format?.intervals ?? []
        guard let interval = entry(intervals, answer.pointee.index) else {
            return -EINVAL
        }
        answer.pointee.type = V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
        answer.pointee.discrete = v4l2_fract(numerator: interval.0, denominator: interval.1)
        return 0
    }

    private func currentFormat(_ answer: UnsafeMutablePointer<v4l2_format>) -> Int32 {
        let size = formats.first?.sizes.first ?? (640, 480)
        if isMultiPlanar {
            answer.pointee.fmt.pix_mp.width = size.width
            answer.pointee.fmt.pix_mp.height = size.height
        } else {
            answer.pointee.fmt.pix.width = size.width
            answer.pointee.fmt.pix.height = size.height
        }
        return 0
    }

    private func setFormat(_ answer: UnsafeMutablePointer<v4l2_format>) -> Int32 {
        if isMultiPlanar {
            answer.pointee.fmt.pix_mp.num_planes = UInt8(lengths.count)
            answer.pointee.fmt.pix_mp.field = grantedField(answer.pointee.fmt.pix_mp.field)
            withUnsafeMutableBytes(of: &answer.pointee.fmt.pix_mp.plane_fmt) { bytes in
                let planes = bytes.assumingMemoryBound(to: v4l2_plane_pix_format.self)
                for index in lengths.indices {
                    planes[index].bytesperline = strides[index]
                    planes[index].sizeimage = lengths[index]
                }
            }
        } else {
            answer.pointee.fmt.pix.field = grantedField(answer.pointee.fmt.pix.field)
            answer.pointee.fmt.pix.bytesperline = strides[0]
            answer.pointee.fmt.pix.sizeimage = lengths[0]
        }
        grant(&answer.pointee)
        return 0
    }

    private func exchange<Value>(_ value: inout Value, _ argument: UnsafeMutablePointer<Value>, sets: Bool)
        -> Int32
    {
        if sets { value = argument.pointee } else { argument.pointee = value }
        return 0
    }

    private func describePixels(_ answer: UnsafeMutablePointer<v4l2_cropcap>) -> Int32 {
        guard let pixelAspect else { return -ENOTTY }
        answer.pointee.pixelaspect = v4l2_fract(numerator: pixelAspect.0, denominator: pixelAspect.1)
        return 0
    }

    private func select(_ answer: UnsafeMutablePointer<v4l2_selection>) -> Int32 {
        guard let size = selections[Int32(answer.pointee.target)] else { return -EINVAL }
        (answer.pointee.r.width, answer.pointee.r.height) = (size.width, size.height)
        return 0
    }

    private func listInput(_ answer: UnsafeMutablePointer<v4l2_input>) -> Int32 {
        guard let name = entry(inputs, answer.pointee.index) else { return -EINVAL }
        withUnsafeMutableBytes(of: &answer.pointee.name) { $0.copyBytes(from: name.utf8.prefix(31)) }
        return 0
    }

    private func listStandard(_ answer: UnsafeMutablePointer<v4l2_standard>) -> Int32 {
        guard let standard = entry(standards, answer.pointee.index) else { return -EINVAL }
        answer.pointee.id = standard.bits
        withUnsafeMutableBytes(of: &answer.pointee.name) { $0.copyBytes(from: standard.name.utf8.prefix(23)) }
        return 0
    }

    private func grantedField(_ wanted: UInt32) -> UInt32 {
        (fields.first { $0.rawValue == wanted } ?? fields[0]).rawValue
    }

    private func measureSignal(_ answer: UnsafeMutablePointer<v4l2_dv_timings>) -> Int32 {
        guard let timings else { return -ENOTTY }
        answer.pointee.type = UInt32(V4L2_DV_BT_656_1120)
        answer.pointee.bt = timings
        return 0
    }

    private func currentInterval(_ answer: UnsafeMutablePointer<v4l2_streamparm>) -> Int32 {
        answer.pointee.parm.capture.capability = UInt32(V4L2_CAP_TIMEPERFRAME)
        answer.pointee.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: 15)
        return 0
    }

    private func setInterval(_ answer: UnsafeMutablePointer<v4l2_streamparm>) -> Int32 {
        if let (numerator, denominator) = grantedInterval {
            answer.pointee.parm.capture.timeperframe = v4l2_fract(
                numerator: numerator, denominator: denominator)
        }
        return 0
    }

    private func requestBuffers(_ answer: UnsafeMutablePointer<v4l2_requestbuffers>) -> Int32 {
        let memory = v4l2_memory(rawValue: answer.pointee.memory)
        requests.append((answer.pointee.count, memory))
        if memory == V4L2_MEMORY_DMABUF, !importsMemory { return -EINVAL }
        queued = []
        answer.pointee.count = answer.pointee.count == 0 ? 0 : grantedBuffers
        return 0
    }

    private func exportBuffer(_ answer: UnsafeMutablePointer<v4l2_exportbuffer>) -> Int32 {
        guard exportsMemory else { return -ENOTTY }
        guard let fd = TestMemory.descriptor(length: Int(lengths[0])) else { return -ENOMEM }
        memory[Self.offset(ofBuffer: Int(answer.pointee.index), plane: 0)] = TestMemory.map(fd)
        answer.pointee.fd = fd
        return 0
    }

    private func queryBuffer(_ answer: UnsafeMutablePointer<v4l2_buffer>) -> Int32 {
        let index = Int(answer.pointee.index)
        let lengths = bufferLengths ?? lengths
        answer.pointee.flags = bufferFlags
        if isMultiPlanar, let planes = answer.pointee.m.planes {
            for plane in lengths.indices {
                planes[plane].length = lengths[plane]
                planes[plane].m.mem_offset = UInt32(Self.offset(ofBuffer: index, plane: plane))
            }
        } else {
            answer.pointee.length = lengths[0]
            answer.pointee.m.offset = UInt32(Self.offset(ofBuffer: index, plane: 0))
        }
        return 0
    }

    private static func offset(ofBuffer index: Int, plane: Int) -> Int { (index * 8 + plane) << 12 }

    private func giveEvent(_ answer: UnsafeMutablePointer<v4l2_event>) -> Int32 {
        guard !pendingChanges.isEmpty else { return -ENOENT }
        answer.pointee.type = UInt32(V4L2_EVENT_SOURCE_CHANGE)
        answer.pointee.u.src_change.changes = pendingChanges.removeFirst()
        answer.pointee.pending = UInt32(pendingChanges.count)
        return 0
    }

    private func queue(_ buffer: UnsafeMutablePointer<v4l2_buffer>) -> Int32 {
        let index = Int(buffer.pointee.index)
        if buffer.pointee.memory == V4L2_MEMORY_DMABUF.rawValue {
            if let importFailure { return -importFailure }
            let descriptor = isMultiPlanar ? buffer.pointee.m.planes[0].m.fd : buffer.pointee.m.fd
            memory[Self.offset(ofBuffer: index, plane: 0)] = TestMemory.map(descriptor)
        }
        queueings.append(index)
        guard !queued.contains(index) else { return -EINVAL }
        queued.append(index)
        return 0
    }

    private func dequeue(_ answer: UnsafeMutablePointer<v4l2_buffer>) -> Int32 {
        defer { ready = nil }
        switch ready {
        case .frame(let frame): return deliver(frame, into: answer)
        case .dequeueFails(let code): return -code
        default: return -EAGAIN
        }
    }

    private func deliver(_ frame: Frame, into answer: UnsafeMutablePointer<v4l2_buffer>) -> Int32 {
        guard !queued.isEmpty else { return -EAGAIN }
        let index = frame.index.map(Int.init) ?? queued[0]
        queued.removeAll { $0 == index }
        let sequence = frame.sequence ?? nextSequence
        nextSequence = sequence &+ 1
        answer.pointee.index = UInt32(index)
        answer.pointee.sequence = sequence
        answer.pointee.flags = frame.flags
        answer.pointee.timestamp = timeval(
            tv_sec: frame.seconds ?? Int(now.nanoseconds / 1_000_000_000),
            tv_usec: Int(now.nanoseconds % 1_000_000_000 / 1000))
        for plane in lengths.indices {
            let used = frame.bytesUsed ?? (lengths[plane] + frame.dataOffset)
            if isMultiPlanar, let planes = answer.pointee.m.planes {
                planes[plane].bytesused = used
                planes[plane].data_offset = frame.dataOffset
            } else {
                answer.pointee.bytesused = used
            }
            let memory = memory[Self.offset(ofBuffer: index, plane: plane)]
            memory?.fill(with: frame.fill &+ UInt8(plane))
            memory?.copyBytes(from: frame.bytes)
        }
        return 0
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func fill(with byte: UInt8) { initializeMemory(as: UInt8.self, repeating: byte) }
}

extension UnsafeMutableRawPointer {
    fileprivate func `as`<Structure>(_ type: Structure.Type) -> UnsafeMutablePointer<Structure> {
        assumingMemoryBound(to: type)
    }
}
