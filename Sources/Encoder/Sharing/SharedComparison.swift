import Glibc
import Pictures

/// Compares the NV12 that a GPU sees with what a camera wrote.
struct SharedComparison {
    private let format: PictureFormat
    private let planes: [UnsafeRawBufferPointer]

    /// How far the GPU's chroma may be from the mean of two rows.
    private static let tolerance = (each: 2, mean: 0.5)

    /// - Parameter planes: of a picture in that format, which the caller keeps.
    init(_ format: PictureFormat, _ planes: [UnsafeRawBufferPointer]) {
        (self.format, self.planes) = (format, planes)
    }

    /// Whether NV12 is the same, byte for byte; of packed 4:2:2 the luma, and nearly so chroma, which is halved.
    func isSame(as seen: SurfaceWriter.Planes) -> Bool {
        switch format.pixelFormat.arrangement {
        case .packed422(.yuyv): isNearly(seen, lumaFirst: true)
        case .packed422(.uyvy): isNearly(seen, lumaFirst: false)
        default: isEqual(seen)
        }
    }

    private func isEqual(_ seen: SurfaceWriter.Planes) -> Bool {
        for (plane, (number, place)) in zip([seen.luma, seen.chroma], format.planes.enumerated()) {
            guard let start = planes[number].baseAddress else { return false }
            for row in 0..<place.rows
            where memcmp(plane.base + row * plane.stride, start + row * place.stride, place.rowBytes) != 0 {
                return false
            }
        }
        return planes.count == 2
    }

    private func isNearly(_ seen: SurfaceWriter.Planes, lumaFirst: Bool) -> Bool {
        guard let place = format.planes.first, let pixels = planes.first else { return false }
        let (luma, chroma) = lumaFirst ? (0, 1) : (1, 0)
        var sum = 0
        for row in 0..<format.size.height {
            let bytes = UnsafeRawBufferPointer(rebasing: pixels[(row * place.stride)...])
            let wanted = seen.luma.base + row * seen.luma.stride
            for column in 0..<format.size.width where bytes[2 * column + luma] != wanted[column] {
                return false
            }
        }
        for row in 0..<format.size.height / 2 {
            let upper = UnsafeRawBufferPointer(rebasing: pixels[(2 * row * place.stride)...])
            let lower = UnsafeRawBufferPointer(rebasing: pixels[((2 * row + 1) * place.stride)...])
            let wanted = seen.chroma.base + row * seen.chroma.stride
            for column in 0..<format.size.width {
                let mean = (Int(upper[2 * column + chroma]) + Int(lower[2 * column + chroma]) + 1) / 2
                let difference = abs(Int(wanted[column]) - mean)
                guard difference <= Self.tolerance.each else { return false }
                sum += difference
            }
        }
        return Double(sum) <= Self.tolerance.mean * Double(format.size.width * format.size.height / 2)
    }
}
