import Bitstream
import NIOCore
import Testing
import CamPlatform

@testable import CamWeb

@Suite("messages to the page")
struct MessageTests {
    @Test("a picture: version, keyframe, duration, arrival, and the access unit as it is")
    func picture() throws {
        let stream = try EncodedStream(frames: 2)
        let pictures = LivePictures(codec: .h264)
        var found: [(message: ByteBuffer, bytes: [UInt8])] = []
        let note = { (unit: AccessUnit) in
            found.append(
                (
                    LiveMessage.picture(unit, lasting: .milliseconds(40)).bytes,
                    unit.withUnsafeBytes { Array($0) }
                ))
        }
        for (index, packet) in stream.packets.enumerated() {
            let arrival = Instant(nanoseconds: Int64(index) * 0x0102_0304_0000 + 1_000)
            pictures.add(packet.span.bytes, arrival: arrival, note)
            pictures.pause(note)
        }
        try #require(found.count == 2)
        for (index, (message, bytes)) in found.enumerated() {
            var message = message
            #expect(message.readInteger(as: UInt8.self) == 2)
            #expect(message.readInteger(as: UInt8.self) == (index == 0 ? 1 : 0))
            #expect(message.readInteger(as: UInt16.self) == 40)
            #expect(message.readInteger(as: Int64.self) == (Int64(index) * 0x0102_0304_0000 + 1_000) / 1_000)
            #expect(message.readBytes(length: message.readableBytes) == bytes)
            #expect(bytes.starts(with: [0, 0, 0, 1]))
        }
    }

    @Test("a picture for a player: the header of its MP4 in a message of its own, then its fragment")
    func fragments() throws {
        let stream = try EncodedStream(frames: 1)
        let supply = ContainerSupply(name: "door")
        var found: LivePicture?
        let pictures = LivePictures(codec: .h264)
        pictures.add(stream.bytes.span.bytes, arrival: Instant(nanoseconds: 7_000)) { _ in }
        pictures.pause { unit in
            guard let facts = StreamFacts(unit) else { return }
            found = try? supply.picture(unit, lasting: .seconds(100), as: .fragments, facts)
        }
        let picture = try #require(found)
        var header = try #require(picture.container?.prologue)
        #expect(header.readBytes(length: 4) == [2, 2, 0, 0])
        #expect(header.getString(at: header.readerIndex + 12, length: 4) == "ftyp")
        var bytes = picture.bytes
        // A duration has 16 bits.
        #expect(bytes.readBytes(length: 4) == [2, 1, 0xFF, 0xFF])
        #expect(bytes.readInteger(as: Int64.self) == 7)
        #expect(bytes.getString(at: bytes.readerIndex + 4, length: 4) == "moof")
    }

    @Test("the usual time from picture to picture, of which an outage is no part")
    func interval() {
        var interval = PictureInterval()
        var usual: [Int64] = []
        for milliseconds in [0, 33, 67, 100, 9000, 9033, 10_033, 11_033, 11_066, 11_100, 11_133, 11_166] {
            interval.note(Instant(nanoseconds: Int64(milliseconds) * 1_000_000))
            usual.append(interval.usual.inNanoseconds / 1_000_000)
        }
        #expect(usual == [40, 40, 33, 33, 34, 34, 1000, 1000, 1000, 1000, 1000, 34])
    }

    @Test("states, whose reasons are only text")
    func states() {
        #expect(TextMessage(.live).json == #"{"kind":"status","state":"live"}"#)
        #expect(
            TextMessage(.paused, age: .seconds(12)).json
                == #"{"age":12000,"kind":"status","state":"paused"}"#)
        #expect(TextMessage(impossible: "B").json == #"{"kind":"impossible","reason":"B"}"#)
        #expect(
            TextMessage(.unavailable("a\"b\n</script>")).json
                == #"{"kind":"status","reason":"a\"b\n</script>","state":"unavailable"}"#)
    }

    @Test("a viewer without a right to details gets no cause")
    func inWords() {
        let address = "127.0.0.1:9982: connection refused"
        for message in [
            TextMessage(.unavailable(address)), TextMessage(.unplayable(address)),
            TextMessage(impossible: address),
        ] {
            let text = EventText(message)
            #expect(String(buffer: text.bytes(seesDetails: true)).contains(address))
            #expect(!String(buffer: text.bytes(seesDetails: false)).contains("127.0.0.1"))
        }
        let text = EventText(TextMessage(.live))
        #expect(text.bytes(seesDetails: false) == text.bytes(seesDetails: true))
    }
}
