import Acceleration
import Bitstream
import Pictures
import Synchronization

/// A GPU's memory for a camera to write into, where the encoder reads it.
///
/// A camera asks for it before it streams, so that is when the GPU's driver is started; the encoder then uses the same
/// connection. Cameras with formats that no GPU reads as they are start nothing.
public final class SharedSurfaces: SharedMemorySource, Sendable {
    /// Which pictures were not copied, throughout the recording.
    let record = SharingRecord()
    private let nodes: @Sendable () -> [String]
    private let codecs: [Codec]
    private let state = Mutex(State())

    private struct State: @unchecked Sendable {
        // Safe to share: the connection is only used through its own thread.
        var connection: VADisplayConnection?
        /// Whether the driver was started, or could not be.
        var isStarted = false
        /// Nodes in whose driver a thread hangs.
        var hungNodes: Set<String> = []
    }

    /// - Parameters:
    ///   - request: which encoder is wanted.
    ///   - codecs: what it is to encode.
    /// - Returns: nil if no GPU is to read the camera's memory.
    public init?(_ request: EncoderRequest, codecs: [Codec]) {
        guard request.zeroCopy != .off, request.preference != .software else { return nil }
        let node = request.renderNode
        nodes = { node.map { [$0] } ?? RenderNode.all() }
        self.codecs = codecs
    }

    public func reads(_ format: PictureFormat) -> Bool {
        guard format.isShareable, record.refusal == nil, let connection else { return false }
        if format.pixelFormat == .nv12 { return true }
        do throws(EncoderError) {
            // A driver may list what it cannot do.
            if try SharedConversion(of: format, on: connection) != nil { return true }
            record.refuse("the driver of \(connection.node) does not convert \(format.pixelFormat)")
        } catch { noteHang(of: error) }
        return false
    }

    public func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]? {
        guard let connection else { return nil }
        do throws(EncoderError) {
            return try connection.encodingCall { () -> [DMABuffer]? in
                var buffers: [DMABuffer] = []
                for _ in 0..<count {
                    guard let buffer = SharedSurface.allocate(for: format, on: connection) else { return nil }
                    buffers.append(buffer)
                }
                return buffers
            }
        } catch {
            noteHang(of: error)
            return nil
        }
    }

    public func giveUp(_ reason: String) { record.refuse(reason) }

    /// The connection to the driver that was started for a camera; nil if none was, or it is used no more.
    /// - Throws: if its driver hangs.
    func connection(to node: String) throws(EncoderError) -> VADisplayConnection? {
        let (connection, isHung) = state.withLock { ($0.connection, $0.hungNodes.contains(node)) }
        if isHung { throw EncoderError(.driverHangs(node: node)) }
        return connection?.node == node ? connection : nil
    }

    /// Uses the driver no more, which hangs or has failed.
    func forget() { state.withLock { $0.connection = nil } }

    private func noteHang(of error: EncoderError) {
        guard case .driverHangs(let node) = error.kind else { return }
        state.withLock { state in
            state.hungNodes.insert(node)
            state.connection = nil
        }
    }

    /// Starts the driver of the first GPU that encodes.
    private var connection: VADisplayConnection? {
        let isStarted = state.withLock { state in
            defer { state.isStarted = true }
            return state.isStarted
        }
        if !isStarted {
            // Without the lock: a driver that hangs is waited for, and others may ask meanwhile.
            let started = startDriver()
            state.withLock { $0.connection = started }
        }
        return state.withLock { $0.connection }
    }

    private func startDriver() -> VADisplayConnection? {
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
