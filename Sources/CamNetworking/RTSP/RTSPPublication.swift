import CamPlatform

/// A stream that an RTSP server has agreed to take over a TCP connection (RFC 2326, 10.12).
public struct RTSPPublication: ~Copyable {
    private let socket: Socket
    /// What encrypts; nil if nothing does.
    public let relay: Relay?
    /// The request that ends the stream.
    public let farewell: [UInt8]

    /// Connects, and announces the stream.
    /// - Parameters:
    ///   - description: in SDP (RFC 8866), with the streams that `controls` name in it.
    ///   - password: for the address's user; nil to use none.
    ///   - trust: who may vouch for an encrypted connection's server; nil for none.
    ///   - timeout: for connecting, not including the name service, for encryption and for all requests, each.
    ///   - patience: how long until a server is given up that reads nothing.
    ///   - interruption: ends the wait.
    public init(
        to address: RTSPAddress, description: String, controls: [String], password: String?, trust: TLSTrust?,
        timeout: Duration, patience: Duration, interruption: Interruption
    ) throws(NetworkError) {
        var connection = try RTSPConnection.connect(
            to: address, password: password, trust: trust, timeout: timeout, patience: patience,
            interruption: interruption)
        let url = address.url
        _ = try connection.ask("ANNOUNCE", url, [("Content-Type", "application/sdp")], body: description)
        var session: String?
        for (index, control) in controls.enumerated() {
            let channels = "\(2 * index)-\(2 * index + 1)"
            let transport = ("Transport", "RTP/AVP/TCP;unicast;interleaved=\(channels);mode=record")
            let setup = try connection.ask(
                "SETUP", "\(url)/\(control)", [transport] + (session.map { [("Session", $0)] } ?? []))
            // What follows the session's name is its timeout, which packets and sender reports prevent.
            let given = setup["session"].map { String($0.prefix { $0 != ";" }) }
            guard let name = session ?? given, !name.isEmpty, name.utf8.count <= 256 else {
                throw NetworkError(.noSession, address: "\(address)")
            }
            session = name
            guard Self.usesChannels(channels, setup["transport"]) else {
                throw NetworkError(.otherTransport, address: "\(address)")
            }
        }
        guard let session else { throw NetworkError(.noSession, address: "\(address)") }
        let name = ("Session", session)
        _ = try connection.ask("RECORD", url, [name, ("Range", "npt=0.000-")])
        farewell = connection.makeRequest("TEARDOWN", url, [name])
        relay = connection.relay
        socket = connection.finish()
    }

    /// Returns the connection, for packets with their channel and length (RFC 2326, 10.12). What the server sends over it
    /// may be discarded.
    public consuming func takeSocket() -> Socket { socket }

    /// Whether the server takes packets on the channels that were asked for; some do not repeat them.
    private static func usesChannels(_ channels: String, _ transport: String?) -> Bool {
        guard let transport, transport.uppercased().contains("TCP") else { return false }
        guard let range = transport.lowercased().firstRange(of: "interleaved=") else { return true }
        return transport[range.upperBound...].prefix { $0 != ";" } == channels
    }
}
