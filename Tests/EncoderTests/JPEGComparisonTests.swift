import CTestJPEG
import CYUV
import Glibc
import CamPictures
import Testing

@testable import Encoder

@Suite("Comparison of a GPU's JPEG pictures")
struct JPEGComparisonTests {
    private static let size = PictureSize(64, 48)!

    /// A JPEG and what libjpeg-turbo decodes it to: luma, and each row of chroma with Cb and Cr in turn.
    private struct Sample {
        var bytes: [UInt8] = []
        var luma: [UInt8] = []
        var chroma: [[UInt8]] = []

        init(vertical: Int32) {
            let samples = (0..<size.area * 3).map { index -> UInt8 in
                let (component, column, row) = (index % 3, index / 3 % 64, index / 192)
                return UInt8(truncatingIfNeeded: component * 60 + column * 2 + row)
            }
            let options = test_jpeg_options(
                width: 64, height: 48, components: 3, horizontal: 2, vertical: vertical, restart_rows: 0,
                progressive: 0, rgb: 0)
            var count = 0
            let encoded = test_jpeg_encode(samples, options, &count)!
            bytes = Array(UnsafeBufferPointer(start: encoded, count: count))
            free(encoded)
            decode()
        }

        private mutating func decode() {
            let decoder = cyuv_jpeg_create()
            defer { cyuv_jpeg_destroy(decoder) }
            var layout = cyuv_jpeg_layout()
            #expect(cyuv_jpeg_begin(decoder, bytes, bytes.count, 64, 48, &layout) == CYUV_JPEG_OK)
            let stride = 128
            let planeSize = stride * Int(CYUV_JPEG_MAXIMUM_BAND_ROWS)
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 3 * planeSize)
            defer { memory.deallocate() }
            for _ in Swift.stride(from: 0, to: 48, by: Int(layout.band_rows)) {
                #expect(cyuv_jpeg_read_band(decoder, memory, stride) == CYUV_JPEG_OK)
                for row in 0..<Int(layout.band_rows) {
                    luma += UnsafeBufferPointer(start: memory + row * stride, count: 64)
                }
                for row in 0..<Int(layout.band_rows / layout.vertical_subsampling) {
                    let rows = [memory + planeSize, memory + 2 * planeSize].map { $0 + row * stride }
                    chroma.append((0..<64).map { rows[$0 % 2][$0 / 2] })
                }
            }
        }

        /// NV12 of which rows of chroma are taken.
        func nv12(_ row: (Int) -> [UInt8]) -> [UInt8] { luma + (0..<24).flatMap(row) }

        func result(_ picture: [UInt8]) -> JPEGComparison.Result {
            var picture = picture
            return picture.withUnsafeMutableBufferPointer { picture in
                let base = picture.baseAddress!
                let planes = SurfaceWriter.Planes(
                    luma: .init(base, stride: 64), chroma: .init(base + 64 * 48, stride: 64))
                return bytes.withUnsafeBytes { JPEGComparison.result($0, size: size, planes) }
            }
        }
    }

    @Test("The same picture, and one that differs by 1 in a third of its samples")
    func same() {
        let sample = Sample(vertical: 2)
        var picture = sample.nv12 { sample.chroma[$0] }
        #expect(sample.result(picture) == .same(isTelling: true))
        for index in picture.indices where index % 3 == 0 { picture[index] ^= 1 }
        #expect(sample.result(picture) == .same(isTelling: true))
    }

    @Test("Differences of 3 in one sample, of 1 in most, and another layout")
    func different() {
        let sample = Sample(vertical: 2)
        let picture = sample.nv12 { sample.chroma[$0] }
        for place in [0, 64 * 48 - 1, 64 * 48, picture.count - 1] {
            var changed = picture
            changed[place] = changed[place] > 100 ? changed[place] - 3 : changed[place] + 3
            #expect(sample.result(changed) != .same(isTelling: true), "\(place)")
        }
        #expect(sample.result(picture.map { $0 ^ 1 }) != .same(isTelling: true))
        let exchanged = sample.nv12 { row in
            sample.chroma[row].indices.map { sample.chroma[row][$0 ^ 1] }
        }
        #expect(sample.result(exchanged) != .same(isTelling: true))
        #expect(
            sample.result(Array(picture.dropFirst(64)) + Array(repeating: 128, count: 64))
                != .same(isTelling: true))
    }

    @Test("Of 4:2:2, either row of chroma, or the mean of both")
    func halvedChroma() {
        let sample = Sample(vertical: 1)
        #expect(sample.chroma.count == 48)
        #expect(sample.result(sample.nv12 { sample.chroma[2 * $0] }) == .same(isTelling: true))
        #expect(sample.result(sample.nv12 { sample.chroma[2 * $0 + 1] }) == .same(isTelling: true))
        let mean = sample.nv12 { row -> [UInt8] in
            let (upper, lower) = (sample.chroma[2 * row], sample.chroma[2 * row + 1])
            return upper.indices.map { index -> UInt8 in
                let sum = Int(upper[index]) + Int(lower[index])
                return UInt8(sum / 2)
            }
        }
        #expect(sample.result(mean) == .same(isTelling: true))
        // The upper half in place of every other row
        #expect(sample.result(sample.nv12 { sample.chroma[$0] }) != .same(isTelling: true))
    }

    @Test("A damaged picture says nothing about the GPU")
    func damaged() {
        var sample = Sample(vertical: 2)
        let picture = sample.nv12 { sample.chroma[$0] }
        sample.bytes.removeLast(sample.bytes.count / 3)
        #expect(sample.result(picture) == .impossible)
    }
}
