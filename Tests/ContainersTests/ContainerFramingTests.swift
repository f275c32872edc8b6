import Bitstream
import CTestAllocations
import TestSupport
import Testing
import CamPlatform
@testable import CamDelivery
@testable import Containers

/// A container for receivers that join at any time.
@Suite struct ContainerFramingTests {
    private let folder = TemporaryFolder()

    @Test(
        "a receiver that joins at any keyframe gets what libavformat reads, with the pictures' times",
        arguments: ContainerFormat.allCases, [Codec.h264, .hevc])
    func joining(format: ContainerFormat, codec: Codec) throws {
        let stream = try CodedStream(codec, frames: 40, keyframeInterval: 10)
        let framing = try ContainerFraming(format, stream: stream.description, name: "live")
        var pool = FramedUnitPool()
        let framed = try stream.units.map { try pool.make($0, with: framing) }
        #expect(framed.allSatisfy { !$0.bytes.isEmpty }, "each picture leaves at once")
        for first in [0, 10, 30] {
            let path = folder.path("\(first).\(format.rawValue)")
            folder.write(
                "\(first).\(format.rawValue)", framed[first].prologue + framed[first...].flatMap(\.bytes))
            let content = try #require(ContainerContent(path))
            #expect(content.packets.count == 40 - first)
            #expect(content.packets.first?.isKey == true)
            let wanted = stream.units[first...].map {
                ($0.timestamp - stream.units[first].timestamp).inNanoseconds
            }
            // Milliseconds in Matroska, ticks of 90 kHz in a transport stream.
            let tolerance: Int64 = format == .matroska ? 1_000_000 : 11_112
            for (time, want) in zip(content.times, wanted) { #expect(abs(time - want) <= tolerance) }
        }
    }

    @Test("a live MP4 has the pictures' times, however slow the camera is and whatever rate it declares")
    func slow() throws {
        let milliseconds: [Int64] = [0, 1000, 2000, 2040, 9040, 10040]
        let stream = try CodedStream(.h264, frames: milliseconds.count) { milliseconds[$0] * 1_000_000 }
        let container = try LiveContainer(.mp4, stream: stream.description, name: "live")
        let fragments = try stream.units.map { try container.frame($0, lasting: .seconds(1)) }
        folder.write("slow.mp4", container.prologue + fragments.joined())
        let content = try #require(ContainerContent(folder.path("slow.mp4")))
        #expect(content.times.map { ($0 + 500_000) / 1_000_000 } == milliseconds)
    }

    @Test("a transport stream continues with another picture format, a container with a header cannot")
    func format() throws {
        let stream = try CodedStream(.h264, frames: 1)
        try ContainerFraming(.transportStream, stream: stream.description, name: "live").beginStream()
        for format in [ContainerFormat.matroska, .mp4] {
            #expect(throws: OutputError(.formatChanged, output: "live")) {
                try ContainerFraming(format, stream: stream.description, name: "live").beginStream()
            }
        }
    }

    @Test(
        "packets for a server allocate nothing",
        .enabled(if: allocations_can_be_counted(), "counts in optimized code without a sanitizer"))
    func allocations() throws {
        var random = SeededGenerator(seed: 18)
        let framing = RTPFraming(codec: .h264, using: &random)
        let units = (0..<150).map { accessUnit(length: 5000, isIDR: $0 % 10 == 0, frameNumber: $0) }
        var pool = FramedUnitPool()
        // An array's iterator allocates where it is not optimized, as tests are not.
        for number in units.indices {
            if number == 50 { allocations_begin() }
            _ = try pool.make(units[number], with: framing)
        }
        #expect(allocations_end() == 0)
    }
}
