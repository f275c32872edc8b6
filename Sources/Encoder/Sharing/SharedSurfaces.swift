import Acceleration
import Bitstream
import Pictures
import Synchronization

/// A GPU's memory for a camera to write into, where the encoder reads it.
///
/// A camera asks for it before it streams, so that is when the GPU's driver is started; the encoder then uses the same
/// connection. Cameras with formats that no GPU reads as they are start nothing.
public final class SharedSurfaces: SharedMemorySource, Sendable {
    private let nodes: @Sendable () -> [String]
    private let codecs: [Codec]
    private let state = Mutex(State())

    private struct State: @unchecked Sendable {
        // Safe to share: the connection is only used through its own thread.
        var connection: VADisplayConnection?
        /// Whether the driver was started, or could not be.
        var isStarted = false
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

    public func reads(_ format: PictureFormat) -> Bool { format.isShareable && connection != nil }

    public func makeBuffers(for format: PictureFormat, count: Int) -> [DMABuffer]? {
        guard let connection else { return nil }
        let buffers = try? connection.call { () -> [DMABuffer]? in
            var buffers: [DMABuffer] = []
            for _ in 0..<count {
                guard let buffer = SharedSurface.allocate(for: format, on: connection) else { return nil }
                buffers.append(buffer)
            }
            return buffers
        }
        return buffers ?? nil
    }

    /// The connection to the driver that was started for a camera; nil if none was, or it is used no more.
    func connection(to node: String) -> VADisplayConnection? {
        state.withLock { $0.connection?.node == node ? $0.connection : nil }
    }

    /// Uses the driver no more, which hangs or has failed.
    func forget() { state.withLock { $0.connection = nil } }

    /// Starts the driver of the first GPU that encodes.
    private var connection: VADisplayConnection? {
        state.withLock { state in
            if state.isStarted { return state.connection }
            state.isStarted = true
            for node in nodes() {
                guard let connection = try? VADisplayConnection(node: node),
                    let capabilities = try? VAAPICapabilities.query(connection, codecs: codecs),
                    codecs.allSatisfy({ codec in capabilities.contains { $0.codec == codec } })
                else { continue }
                state.connection = connection
                break
            }
            return state.connection
        }
    }
}
