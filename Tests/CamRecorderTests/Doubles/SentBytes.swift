import CamNetworking

/// Returns what something sends over a socket, up to its end.
func sentBytes(by run: (borrowing Socket) -> Void) throws -> [UInt8] {
    try Socket.Pair().split { (ours, client) in
        run(ours)
        ours.shutDownWriting()
        var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while client.waitUntilReadable() {
            guard case .received(let count) = room.withUnsafeMutableBytes({ client.receive(into: $0) })
            else { break }
            bytes += room[..<count]
        }
        return bytes
    }
}
