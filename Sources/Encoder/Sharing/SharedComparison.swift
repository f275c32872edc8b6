import Glibc
import CamPictures

/// Compares the NV12 that a GPU sees with what a camera wrote: byte for byte, but for the chroma of packed 4:2:2, which is
/// halved on the way.
///
/// Rows are copied before they are looked at: a GPU's memory may be slow to read.
struct SharedComparison {
    enum Result: Hashable {
        /// Telling if the picture has light and dark, and colours.
        case same(isTelling: Bool)
        case different
    }

    private let format: PictureFormat
    private let planes: [UnsafeRawBufferPointer]
    private var upper: [UInt8]
    private var lower: [UInt8]
    private var seen: [UInt8]
    private var luma = Range()
    private var chroma = (first: Range(), second: Range())
    /// How far the halved chroma is from the mean of two rows, in all.
    private var differences = 0

    /// How far it may be.
    private static let tolerance = (each: 2, mean: 0.5)

    /// Of so many bytes one is looked at for what a picture has in it; even, as chroma is in pairs.
    private static let sampling = 8

    /// What a plane's samples lie between.
    private struct Range {
        private static let telling = 16
        private var (least, most) = (UInt8.max, UInt8.min)

        mutating func add(_ value: UInt8) { (least, most) = (min(least, value), max(most, value)) }

        var varies: Bool { Int(most) - Int(least) >= Self.telling }
    }

    /// - Parameter planes: of a picture in that format, which the caller keeps.
    init(_ format: PictureFormat, _ planes: [UnsafeRawBufferPointer]) {
        (self.format, self.planes) = (format, planes)
        let rowBytes = format.planes.map(\.rowBytes).max() ?? 0
        upper = [UInt8](repeating: 0, count: rowBytes)
        (lower, seen) = (upper, upper)
    }

    /// Compares the picture with what the GPU sees.
    mutating func result(of surface: SurfaceWriter.Planes) -> Result {
        let isSame =
            switch format.pixelFormat.arrangement {
            case .packed422(.yuyv): isNearly(surface, lumaFirst: true)
            case .packed422(.uyvy): isNearly(surface, lumaFirst: false)
            default: isEqual(surface)
            }
        guard isSame else { return .different }
        return .same(isTelling: luma.varies && chroma.first.varies && chroma.second.varies)
    }

    private mutating func isEqual(_ surface: SurfaceWriter.Planes) -> Bool {
        guard planes.count == 2, format.planes.count == 2 else { return false }
        for row in 0..<format.planes[0].rows {
            take(row, of: 0, into: &upper)
            take(row, of: surface.luma)
            guard isSame(format.planes[0].rowBytes) else { return false }
            for column in stride(from: 0, to: format.planes[0].rowBytes, by: Self.sampling) {
                luma.add(upper[column])
            }
        }
        for row in 0..<format.planes[1].rows {
            take(row, of: 1, into: &upper)
            take(row, of: surface.chroma)
            guard isSame(format.planes[1].rowBytes) else { return false }
            for column in stride(from: 0, to: format.planes[1].rowBytes - 1, by: Self.sampling) {
                chroma.first.add(upper[column])
                chroma.second.add(upper[column + 1])
            }
        }
        return true
    }

    private mutating func isNearly(_ surface: SurfaceWriter.Planes, lumaFirst: Bool) -> Bool {
        guard planes.count == 1 else { return false }
        let (width, height) = (format.size.width, format.size.height)
        let (lumaPlace, chromaPlace) = lumaFirst ? (0, 1) : (1, 0)
        for row in stride(from: 0, to: height - 1, by: 2) {
            take(row, of: 0, into: &upper)
            take(row + 1, of: 0, into: &lower)
            take(row, of: surface.luma)
            for column in 0..<width {
                guard upper[2 * column + lumaPlace] == seen[column] else { return false }
                luma.add(seen[column])
            }
            take(row + 1, of: surface.luma)
            for column in 0..<width where lower[2 * column + lumaPlace] != seen[column] { return false }
            take(row / 2, of: surface.chroma)
            for column in 0..<width {
                let (above, below) = (upper[2 * column + chromaPlace], lower[2 * column + chromaPlace])
                let difference = abs(Int(seen[column]) - (Int(above) + Int(below) + 1) / 2)
                guard difference <= Self.tolerance.each else { return false }
                differences += difference
                if column % 2 == 0 { chroma.first.add(above) } else { chroma.second.add(above) }
            }
        }
        return Double(differences) <= Self.tolerance.mean * Double(width * height / 2)
    }

    /// Whether the rows that were copied last are the same.
    private func isSame(_ count: Int) -> Bool { memcmp(upper, seen, count) == 0 }

    /// Copies a row of the camera's.
    private func take(_ row: Int, of number: Int, into copy: inout [UInt8]) {
        let place = format.planes[number]
        let bytes = planes[number][row * place.stride..<row * place.stride + place.rowBytes]
        copy.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes)) }
    }

    /// Copies a row of the GPU's.
    private mutating func take(_ row: Int, of plane: PictureSurface.Plane) {
        let count = format.size.width
        seen.withUnsafeMutableBytes {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: plane.base + row * plane.stride, count: count))
        }
    }
}
