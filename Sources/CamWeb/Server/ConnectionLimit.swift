import NIOCore

/// Limits the connections of a server, each of which takes a descriptor and memory, those of one address that wait for a
/// request, and those on which one address gets live pictures or recordings. Used on the event loop.
final class ConnectionLimit: Sendable {
    private let most: Int
    private let mostIdle: Int?
    private let mostStreams: Int
    private let state: NIOLoopBoundBox<State>

    /// Belongs to the event loop.
    private struct State {
        var count = 0
        /// The connections that wait for a request, in the order in which they began to.
        var idle: [(channel: any Channel, address: ClientAddress)] = []
        /// The clients of connections with live pictures or a response from recordings.
        var streams: [ObjectIdentifier: ClientAddress] = [:]
    }

    /// - Parameters:
    ///   - mostIdle: the most idle connections of an address; nil for any number.
    ///   - mostStreams: the most connections with live pictures or recordings to a client; by default half of all.
    init(_ most: Int, idle mostIdle: Int?, streams mostStreams: Int? = nil, on eventLoop: any EventLoop) {
        (self.most, self.mostIdle, self.mostStreams) = (most, mostIdle, mostStreams ?? most / 2)
        state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Returns whether a connection may stay; the caller closes it otherwise. If there are too many, an idle one makes
    /// way.
    func admit(_ channel: any Channel) -> Bool {
        if state.value.count >= most {
            guard let oldest = oldestOfBusiestAddress else { return false }
            close(oldest)
        }
        state.value.count += 1
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
            state.value.count -= 1
            noteBusy(channel)
            state.value.streams[ObjectIdentifier(channel)] = nil
        }
        noteIdle(channel)
        return true
    }

    /// Records that a connection waits for a request.
    func noteIdle(_ channel: any Channel) {
        noteBusy(channel)
        state.value.streams[ObjectIdentifier(channel)] = nil
        let address = ClientAddress(channel.remoteAddress?.ipAddress ?? "")
        state.value.idle.append((channel, address))
        let own = state.value.idle.filter { $0.address == address }
        if let mostIdle, own.count > mostIdle { close(own[0].channel) }
    }

    /// Records that a connection has a request, or is gone.
    func noteBusy(_ channel: any Channel) { state.value.idle.removeAll { $0.channel === channel } }

    /// Whether a client may have live pictures or recordings on another connection.
    /// - Parameter client: nil for one without a limit.
    func hasRoom(for client: ClientAddress?) -> Bool {
        guard let client else { return true }
        return state.value.streams.values.count { $0 == client } < mostStreams
    }

    /// Records that a client gets live pictures or recordings on a connection, until the connection is idle or closed.
    /// - Returns: false, and records nothing, if the client has too many of these.
    func admitStream(_ channel: any Channel, to client: ClientAddress?) -> Bool {
        // The connection may have had another stream.
        state.value.streams[ObjectIdentifier(channel)] = nil
        guard hasRoom(for: client) else { return false }
        state.value.streams[ObjectIdentifier(channel)] = client
        return true
    }

    /// The oldest idle connection of the address that has most of them.
    private var oldestOfBusiestAddress: (any Channel)? {
        let counts = state.value.idle.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
        let busiest = counts.max { $0.value < $1.value }?.key
        return state.value.idle.first { $0.address == busiest }?.channel
    }

    private func close(_ channel: any Channel) {
        noteBusy(channel)
        channel.close(promise: nil)
    }
}
