import NIOCore
import NIOHTTP1
import CamPlatform

/// Carries a response from the thread that makes it to its connection. The thread waits while the browser has not taken
/// what came before, so that memory is bounded.
final class ResponseSink: @unchecked Sendable {
    // Safe to share: all mutable state is accessed with the monitor's lock held.
    private let monitor = Monitor()
    private var waitingCount = 0
    private var isOver = false
    /// Called on the maker's thread.
    private let deliver: @Sendable (Part) -> Void

    /// A part of a response.
    enum Part: Sendable {
        case head(HTTPResponseStatus, HTTPHeaders)
        case body(ByteBuffer)
        case end
        /// Something failed after the head was sent: the browser must notice that the rest is missing.
        case abort
    }

    /// The most bytes that wait for the browser.
    private static let mostWaiting = 512 << 10
    /// What a slow browser reads in a few seconds: less than that is not reading.
    private static let longestPiece = 64 << 10

    init(_ deliver: @escaping @Sendable (Part) -> Void) { self.deliver = deliver }

    /// Whether nobody waits for the response any more.
    var isGone: Bool { monitor.withLock { isOver } }

    /// Begins the response.
    func begin(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        if !isGone { deliver(.head(status, headers)) }
    }

    /// Sends bytes, and waits until there is room for them.
    /// - Returns: false if nobody waits for them any more.
    func send(_ bytes: ByteBuffer) -> Bool {
        var rest = bytes
        while let piece = rest.readSlice(length: min(Self.longestPiece, rest.readableBytes)),
            piece.readableBytes > 0
        {
            guard sendPiece(piece) else { return false }
        }
        return !isGone
    }

    private func sendPiece(_ bytes: ByteBuffer) -> Bool {
        let isWanted = monitor.withLock {
            while waitingCount >= Self.mostWaiting, !isOver { monitor.wait() }
            waitingCount += bytes.readableBytes
            return !isOver
        }
        if isWanted { deliver(.body(bytes)) }
        return isWanted
    }

    /// Ends the response.
    func end() { if !isGone { deliver(.end) } }

    /// Ends the connection, because the rest of the response is missing.
    func abort() { if !isGone { deliver(.abort) } }

    /// Notes that the browser has taken bytes.
    func noteSent(_ count: Int) {
        monitor.withLock {
            waitingCount -= count
            monitor.signal()
        }
    }

    /// Notes that nobody waits any more.
    func close() {
        monitor.withLock {
            isOver = true
            monitor.signal()
        }
    }
}
