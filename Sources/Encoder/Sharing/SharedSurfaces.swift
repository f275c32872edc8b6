import CamAcceleration
import Bitstream
import CamPictures
import CamPlatform

/// A GPU's memory for a camera to write into, where the encoder reads it.
///
/// A camera needs it before it streams, so the GPU's driver is started while the camera's format is negotiated; the encoder
/// then uses the same connection.
public final class SharedSurfaces: SharedMemorySource, @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held, and the connection is only used through its own thread.
    /// Which pictures were not copied, throughout the recording.
    let record = SharingRecord()
    private let nodes: @Sendable () -> [String]
    private let codecs: [Codec]
    private let way: ZeroCopyWay
    private let monitor = Monitor()
    private var start = Start.due
    private var usable: VADisplayConnection?
    /// The last format that it was seen to convert, which a camera has again when it is opened again.
    private var converted: PictureFormat?
    /// What was opened to see that, for the encoder's use.
    private var conversion: SharedConversion?
    /// The last format that the driver's memory was not right for.
    private var unallocatable: PictureFormat?
    /// Nodes in whose driver a thread hangs.
    private var hungNodes: Set<String> = []

    /// Of the driver.
    private enum Start { case due, underWay, over }

    /// - Parameters:
    ///   - request: which encoder is wanted.
    ///   - codecs: what it is to encode.
    /// - Returns: nil if no GPU is to read the camera's memory.
    public init?(_ request: EncoderRequest, codecs: [Codec]) {
        guard request.zeroCopy != .off, request.preference != .software else { return nil }
        let node = request.renderNode
        nodes = { node.map { [$0] } ?? RenderNode.all() }
        self.codecs = codecs
        way = request.zeroCopy
    }

    public func reads(_ format: PictureFormat) -> Bool {
        guard format.isShareable, record.refusal == nil, let connection,
            !record.hasGivenUp(connection.node)
        else { return false }
        if format.pixelFormat == .nv12 || monitor.withLock({ converted === format }) { return true }
        guard way == .on || SharedConversion.isProven(connection.driver) else {
            record.refuse(
                "it is not known whether the driver of \(connection.node) converts \(format.pixelFormat) correctly; "
                    + "--zero-copy on tries it")
            return false
        }
        do throws(EncoderError) {
            // A driver may list what it cannot do.
            if let opened = try SharedConversion(of: format, on: connection) {
                monitor.withLock { (converted, conversion) = (format, opened) }
                return true
            }
            record.refuse("the driver of \(connection.node) does not convert \(format.pixelFormat)")
        } catch { noteHang(of: error) }
        return false
    }

    public func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]? {
        guard let connection, monitor.withLock({ unallocatable !== format }) else { return nil }
        do throws(EncoderError) {
            let buffers = try connection.encodingCall { () -> [DMABuffer]? in
                var buffers: [DMABuffer] = []
                for _ in 0..<count {
                    guard let buffer = SharedSurface.allocate(for: format, on: connection) else { return nil }
                    buffers.append(buffer)
                }
                return buffers
            }
            if buffers == nil { monitor.withLock { unallocatable = format } }
            return buffers
        } catch {
            noteHang(of: error)
            return nil
        }
    }

    public var isOver: Bool {
        if record.refusal != nil { return true }
        let (node, isStarted) = monitor.withLock { (usable?.node, start == .over) }
        guard isStarted else { return false }
        return node.map(record.hasGivenUp) ?? true
    }

    public func giveUp(_ reason: String) { record.refuse(reason) }

    /// Starts the driver of the first GPU that encodes, in a thread of its own. A driver that hangs is given up after a few
    /// seconds.
    public func prepare() {
        let isDue = monitor.withLock {
            defer { if start == .due { start = .underWay } }
            return start == .due
        }
        guard isDue else { return }
        if let thread = WorkerThread(body: { [self] in startDriver() }) {
            thread.detach()
        } else {
            startDriver()
        }
    }

    /// Waits for a driver that is being started: a process does not end in the middle of that.
    public func settle() {
        monitor.withLock { while start == .underWay { monitor.wait() } }
    }

    /// The connection to the driver that was started for a camera; nil if none was, or it is used no more.
    /// - Throws: if its driver hangs.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection? {
        settle()
        let (connection, isHung) = monitor.withLock { (usable, hungNodes.contains(node)) }
        if isHung { throw EncoderError(.driverHangs(node: node)) }
        return connection?.node == node ? connection : nil
    }

    /// Hands over what converts a format on a connection, once; nil if that is not open.
    func takeConversion(of format: PictureFormat, on connection: VADisplayConnection) -> SharedConversion? {
        monitor.withLock {
            guard converted === format, conversion?.connection === connection else { return nil }
            return conversion.take()
        }
    }

    /// Uses a node's driver no more, which hangs or has failed.
    func forget(_ node: String) {
        // Its last owner may be this one, and ends the connection, which takes time: without the lock.
        _ = monitor.withLock { usable?.node == node ? (usable.take(), conversion.take()) : nil }
    }

    /// Whether a thread hangs in a driver.
    public var hasHung: Bool { monitor.withLock { !hungNodes.isEmpty } }

    private func noteHang(of error: EncoderError) {
        guard case .driverHangs(let node) = error.kind else { return }
        monitor.withLock { _ = hungNodes.insert(node) }
        forget(node)
    }

    /// The driver that was started for a camera.
    private var connection: VADisplayConnection? {
        prepare()
        settle()
        return monitor.withLock { usable }
    }

    private func startDriver() {
        let connection = firstDriver()
        monitor.withLock {
            (usable, start) = (connection, .over)
            monitor.signal()
        }
    }

    private func firstDriver() -> VADisplayConnection? {
        for node in nodes() {
            do throws(EncoderError) {
                let connection = try VADisplayConnection(forEncodingOn: node)
                let capabilities = try VAAPICapabilities.query(connection, codecs: codecs)
                if codecs.allSatisfy({ codec in capabilities.contains { $0.codec == codec } }) {
                    return connection
                }
            } catch { noteHang(of: error) }
        }
        return nil
    }
}
