import CamAcceleration
import Bitstream
import CamPictures
import CamPlatform

/// Provides GPU memory that a camera writes into and the encoder reads.
///
/// A camera needs the memory before it streams, so the GPU's driver starts while the camera's format is
/// negotiated. The encoder then uses the same connection.
public final class SharedSurfaces: SharedMemorySource, @unchecked Sendable {
    // Safe to share: mutable state is accessed with the lock held, and the connection runs all calls in its
    // own thread.
    /// Counts shared and copied pictures, throughout the recording.
    let record = SharingRecord()
    private let nodes: @Sendable () -> [String]
    private let codecs: [Codec]
    private let way: ZeroCopyMode
    private let monitor = Monitor()
    private var start = Start.due
    private var usable: VADisplayConnection?
    /// The latest format with a working conversion; a reopened camera uses it again.
    private var converted: PictureFormat?
    /// The conversion that was opened as a test, until the encoder takes it.
    private var conversion: SharedConversion?
    /// The latest format for which the driver could not allocate memory.
    private var unallocatable: PictureFormat?
    /// Render nodes in whose driver a thread hangs.
    private var hungNodes: Set<String> = []

    /// The progress of starting the driver.
    private enum Start { case due, underWay, over }

    /// - Parameters:
    ///   - request: the requested encoder.
    ///   - codecs: the codecs to encode.
    /// - Returns: nil if the request rules out sharing the camera's memory.
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
            // A driver may list conversions that fail.
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

    /// Starts the driver of the first GPU that encodes, in a separate thread. A hanging driver is given up
    /// after a few seconds.
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

    /// Waits for a starting driver, because a process must not exit during the start.
    public func settle() {
        monitor.withLock { while start == .underWay { monitor.wait() } }
    }

    /// Returns the connection to the driver that was started for a camera; nil if no driver runs on this
    /// node, or it was given up.
    /// - Throws: if the node's driver hangs.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection? {
        settle()
        let (connection, isHung) = monitor.withLock { (usable, hungNodes.contains(node)) }
        if isHung { throw EncoderError(.driverHangs(node: node)) }
        return connection?.node == node ? connection : nil
    }

    /// Hands over the open conversion of a format, once; nil if there is none on this connection.
    func takeConversion(of format: PictureFormat, on connection: VADisplayConnection) -> SharedConversion? {
        monitor.withLock {
            guard converted === format, conversion?.connection === connection else { return nil }
            return conversion.take()
        }
    }

    /// Stops using a node's driver, which hangs or has failed.
    func forget(_ node: String) {
        // Released without the lock: this may be the last reference, and closing a connection takes time.
        _ = monitor.withLock { usable?.node == node ? (usable.take(), conversion.take()) : nil }
    }

    /// Whether a thread hangs in a driver.
    public var hasHung: Bool { monitor.withLock { !hungNodes.isEmpty } }

    private func noteHang(of error: EncoderError) {
        guard case .driverHangs(let node) = error.kind else { return }
        monitor.withLock { _ = hungNodes.insert(node) }
        forget(node)
    }

    /// The connection to the driver, which starts on the first use.
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
