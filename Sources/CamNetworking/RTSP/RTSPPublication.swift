import CamPlatform

/// A stream that an RTSP server has agreed to receive over a TCP connection (RFC 2326, 10.12).
package struct RTSPPublication: ~Copyable {
    private let socket: Socket
    /// The TLS relay; nil if the connection is not encrypted.
    package let relay: Relay?
    /// The request that ends the stream.
    package let farewell: [UInt8]

    /// Connects, and announces the stream.
    /// - Parameters:
    ///   - description: the session in SDP (RFC 8866), with the streams that `controls` names.
    ///   - password: the password for the user in the address; nil to use none.
    ///   - trust: the certificates that verify the server of an encrypted connection; nil for none.
    ///   - timeout: for connecting, not including the name service, for encryption and for all requests, each.
    ///   - patience: the time after which a server that reads nothing counts as gone.
    ///   - cancellation: ends the wait.
    package init(
        to address: RTSPAddress, description: String, controls: [String], password: String?, trust: TLSTrust?,
        timeout: Duration, patience: Duration, cancellation: CancellationFlag
    ) throws(NetworkError) {
        var connection = try RTSPConnection.connect(
            to: address, password: password, trust: trust, timeout: timeout, patience: patience,
            cancellation: cancellation)
        let url = address.url
        _ = try connection.ask("ANNOUNCE", url, [("Content-Type", "application/sdp")], body: description)
        var session: String?
        for (index, control) in controls.enumerated() {
            let channels = "\(2 * index)-\(2 * index + 1)"
            let transport = ("Transport", "RTP/AVP/TCP;unicast;interleaved=\(channels);mode=record")
            let setup = try connection.ask(
                "SETUP", "\(url)/\(control)", [transport] + (session.map { [("Session", $0)] } ?? []))
            // The timeout follows the name of the session; packets and sender reports prevent it.
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

    /// Returns the connection, for packets with their channel and length (RFC 2326, 10.12). The caller may
    /// discard everything that the server sends.
    package consuming func takeSocket() -> Socket { socket }

    /// Whether the server accepts packets on the requested channels; some servers do not repeat the channels.
    private static func usesChannels(_ channels: String, _ transport: String?) -> Bool {
        guard let transport, transport.uppercased().contains("TCP") else { return false }
        guard let range = transport.lowercased().firstRange(of: "interleaved=") else { return true }
        return transport[range.upperBound...].prefix { $0 != ";" } == channels
    }
}
