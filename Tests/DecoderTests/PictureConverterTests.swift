import Bitstream
import Testing

@testable import Decoder

/// Pictures in other formats and sizes.
@Suite struct PictureConverterTests {
    /// The first picture of a film, and its converted form.
    private func convert(
        to layout: PictureLayout, size: (width: Int, height: Int)? = nil
    ) throws -> (before: Samples, after: Samples) {
        let assembler = AccessUnitAssembler(codec: .h264)
        let decoder = DecompressionSession(DecoderConfiguration(codec: .h264))
        for unit in try CodedFilm(codec: .h264, width: 130, height: 98).accessUnits(1) {
            try assembler.add(unit.span.bytes) { try decoder.decode($0) }
        }
        try assembler.finish { try decoder.decode($0) }
        guard let picture = try decoder.nextPicture() else {
            Issue.record("no picture")
            throw DecoderError(.outOfMemory)
        }
        let before = Samples(picture)
        return (before, Samples(try PictureConverter(to: layout, size: size).convert(picture)))
    }

    @Test("leaves a picture that already has the form unchanged")
    func same() throws {
        let (before, after) = try convert(to: .yuv420p)
        #expect(before == after)
    }

    @Test("NV12 has the same samples, chroma interleaved")
    func nv12() throws {
        let (before, after) = try convert(to: .nv12)
        #expect(after.planes.count == 2)
        #expect(after.planes[0] == before.planes[0])
        #expect(after.planes[1] == zip(before.planes[1], before.planes[2]).flatMap { [$0, $1] })
    }

    @Test("RGB follows from luma and chroma by BT.601's formula, except for rounding")
    func bgra() throws {
        let (before, after) = try convert(to: .bgra)
        #expect(after.planes[0].count == 130 * 98 * 4)
        var worst = 0.0
        // If chroma is the same all around, interpolating it makes no difference.
        for row in stride(from: 4, to: 92, by: 2) {
            for column in stride(from: 4, to: 124, by: 2) {
                let chroma = row / 2 * 65 + column / 2
                let near = [-66, -65, -64, -1, 0, 1, 64, 65, 66].map { chroma + $0 }
                guard Set(near.map { before.planes[1][$0] }).count == 1,
                    Set(near.map { before.planes[2][$0] }).count == 1
                else { continue }
                let luma = 255.0 / 219 * (Double(before.planes[0][row * 130 + column]) - 16)
                let cb = 255.0 / 224 * (Double(before.planes[1][chroma]) - 128)
                let cr = 255.0 / 224 * (Double(before.planes[2][chroma]) - 128)
                let wanted = [luma + 1.772 * cb, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.402 * cr]
                for (index, value) in wanted.enumerated() {
                    let found = Double(after.planes[0][(row * 130 + column) * 4 + index])
                    worst = max(worst, abs(found - max(0, min(255, value))))
                }
            }
        }
        #expect(worst > 0)
        #expect(worst <= 3)
    }

    @Test("scales to the requested size, odd ones too", arguments: [(65, 49), (260, 196), (1, 1)])
    func scale(width: Int, height: Int) throws {
        let (before, after) = try convert(to: .yuv420p, size: (width, height))
        #expect((after.width, after.height) == (width, height))
        #expect(after.planes[0].count == width * height)
        let mean = { (plane: [UInt8]) in plane.reduce(0) { $0 + Double($1) } / Double(plane.count) }
        if width > 1 { #expect(abs(mean(after.planes[0]) - mean(before.planes[0])) < 4) }
    }
}
