import Bitstream
import NIOCore
import Testing
import CamPlatform

@testable import CamWeb

@Suite("messages to the page")
struct MessageTests {
    @Test("a picture: version, keyframe, arrival, and the access unit as it is")
    func picture() throws {
        let stream = try EncodedStream(frames: 2)
        let pictures = LivePictures(codec: .h264)
        var found: [(message: ByteBuffer, bytes: [UInt8])] = []
        let note = { (unit: AccessUnit) in
            found.append((LiveMessage.picture(unit).bytes, unit.withUnsafeBytes { Array($0) }))
        }
        for (index, packet) in stream.packets.enumerated() {
            let arrival = Instant(nanoseconds: Int64(index) * 0x0102_0304_0000 + 1_000)
            pictures.add(packet.span.bytes, arrival: arrival, note)
            pictures.pause(note)
        }
        try #require(found.count == 2)
        for (index, (message, bytes)) in found.enumerated() {
            var message = message
            #expect(message.readInteger(as: UInt8.self) == 1)
            #expect(message.readInteger(as: UInt8.self) == (index == 0 ? 1 : 0))
            #expect(message.readInteger(as: UInt16.self) == 0)
            #expect(message.readInteger(as: Int64.self) == (Int64(index) * 0x0102_0304_0000 + 1_000) / 1_000)
            #expect(message.readBytes(length: message.readableBytes) == bytes)
            #expect(bytes.starts(with: [0, 0, 0, 1]))
        }
    }

    @Test("states, whose reasons are only text")
    func states() {
        #expect(TextMessage(.live).json == #"{"kind":"status","state":"live"}"#)
        #expect(
            TextMessage(.unavailable("a\"b\n</script>")).json
                == #"{"kind":"status","reason":"a\"b\n</script>","state":"unavailable"}"#)
    }
}
