import Bitstream
import Glibc
import CamNetworking
import TestSupport
import Testing
import CamPlatform
@testable import CamDelivery
@testable import Containers

/// Whole live outputs, on this machine's loopback.
@Suite(.hangGuard) struct BroadcastSinkTests {
    private let log = EventLog()

    private func listen(_ address: SocketAddress = SocketAddress(port: 0)) throws(OutputError)
        -> BroadcastSink
    {
        try BroadcastSink(
            listeningOn: .tcp(address), options: LiveOptions(), requestKeyframe: {},
            report: { [log] in log.append($0) })
    }

    private func address(of sink: BroadcastSink) throws -> SocketAddress {
        try #require(SocketAddress(sink.name))
    }

    /// Reads until the stream ends.
    private func readAll(_ socket: borrowing Socket) -> [UInt8] {
        var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while socket.waitUntilReadable() {
            guard case .received(let count) = room.withUnsafeMutableBytes({ socket.receive(into: $0) }) else {
                break
            }
            bytes += room[..<count]
        }
        return bytes
    }

    /// Writes IDRs until the condition holds, because receivers join on the sink's own thread.
    private func write(to sink: BroadcastSink, until condition: () -> Bool) throws {
        let isMet = try eventually {
            try sink.write(accessUnit(length: 100))
            return condition()
        }
        try #require(isMet)
    }

    @Test("a receiver gets the whole stream over TCP")
    func listening() throws {
        let sink = try listen()
        #expect(!sink.isOpenToNetwork)
        #expect(sink.identity == nil)
        let socket = try Socket.connect(to: address(of: sink), timeout: .seconds(5))
        try write(to: sink) { sink.receivers.content.receivers.first.map { $0.units > 0 } ?? false }
        let last = accessUnit(length: 5000)
        try sink.write(last)
        try sink.finish()
        #expect(readAll(socket).suffix(last.count) == last.allBytes[...])
        let receiver = try #require(sink.receivers.content.receivers.first)
        #expect(receiver.departure == .ended)
        #expect(log.events.last == .left(receiver))
    }

    @Test("reports a port in use clearly")
    func taken() throws {
        let sink = try listen()
        let address = try address(of: sink)
        do {
            _ = try listen(address)
            Issue.record("it listens, too")
        } catch {
            #expect(error.isCreation)
            #expect(error.description.contains("another program uses this port"))
        }
    }

    @Test("all addresses are open to the network", arguments: ["0.0.0.0", "::"])
    func open(host: String) throws {
        #expect(try listen(SocketAddress(host: host, port: 0)).isOpenToNetwork)
    }

    @Test("a connecting output retries until someone listens, and again after a break")
    func connecting() throws {
        // A port that was free just now.
        let free = try address(of: listen())
        let sink = try BroadcastSink(
            connectingTo: free, options: LiveOptions(), requestKeyframe: {},
            report: { [log] in log.append($0) })
        try write(to: sink) { log.events.contains { if case .unreachable = $0 { true } else { false } } }
        let listener = try Listener(free)
        for round in 1...2 {
            try write(to: sink) { sink.receivers.content.count == round }
            guard case .connection(let socket, _) = listener.accept() else {
                Issue.record("nobody connected")
                return
            }
            try write(to: sink) { sink.receivers.content.receivers.last.map { $0.units > 0 } ?? false }
            _ = consume socket
            try write(to: sink) { sink.receivers.content.receivers.last?.departure != nil }
        }
        try sink.finish()
    }

    @Test("a connecting output without a receiver reports that at the end")
    func nobody() throws {
        let free = try address(of: listen())
        let sink = try BroadcastSink(
            connectingTo: free, options: LiveOptions(), requestKeyframe: {},
            report: { [log] in log.append($0) })
        try write(to: sink) { log.events.contains { if case .unreachable = $0 { true } else { false } } }
        #expect(sink.receivers.taken.units == 0)
        do {
            try sink.finish()
            Issue.record("somebody took it")
        } catch {
            #expect(!error.isCreation)
            #expect(
                error.description.hasPrefix(
                    "tcp://\(free): no receiver took the stream (\(free): connection refused"))
        }
    }
}
