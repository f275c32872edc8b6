import Glibc
import CamPictures
import Testing
import CamPlatform

@testable import Capture
@testable import Encoder
@testable import CamConversion

/// Memory that ends at an inaccessible page.
final class GuardedMemory {
    /// 4096 on PCs, 16384 on a Raspberry Pi 5.
    private let page = sysconf(Int32(_SC_PAGESIZE))
    private let pages: UnsafeMutableRawPointer
    private let pageBytes: Int
    private let isOwned: Bool
    let bytes: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter owned: false if a pool unmaps the pages.
    init(count: Int, owned: Bool = true) {
        pageBytes = max(1, (count + page - 1) / page) * page
        pages = mmap(nil, pageBytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        mprotect(pages + pageBytes, page, PROT_NONE)
        isOwned = owned
        let start = (pages + (pageBytes - count)).assumingMemoryBound(to: UInt8.self)
        bytes = UnsafeMutableBufferPointer(start: start, count: count)
    }

    /// All of it including the guard page, and where `bytes` begin.
    var mapping: (memory: UnsafeMutableRawBufferPointer, offset: Int) {
        (UnsafeMutableRawBufferPointer(start: pages, count: pageBytes + page), pageBytes - bytes.count)
    }

    deinit {
        if isOwned { munmap(pages, pageBytes + page) }
    }
}

/// A camera buffer whose memory planes are each followed by inaccessible memory.
func makeBuffer(_ format: PictureFormat, _ planes: [[UInt8]]) throws -> PixelBuffer {
    var payloads: InlineArray<3, PixelBuffer.Payload> = .init(repeating: .init())
    var memory: [UnsafeMutableRawBufferPointer] = []
    for (index, plane) in planes.enumerated() {
        let guarded = GuardedMemory(count: plane.count, owned: false)
        _ = guarded.bytes.update(fromContentsOf: plane)
        memory.append(guarded.mapping.memory)
        payloads[index] = .init(offset: guarded.mapping.offset, length: plane.count)
    }
    let pool = try PixelBufferPool(backing: .mapped, planes: memory, planesPerBuffer: planes.count)
    return PixelBuffer(
        pool: pool, index: 0, payloads: payloads, format: format, sequence: 0, timestamp: .start)
}

extension PixelConverter {
    /// Converts a buffer with these memory planes.
    func convert(_ planes: [[UInt8]], of format: PictureFormat? = nil, into target: TestSurface) throws {
        try convert(try makeBuffer(format ?? source, planes), into: target.surface)
    }
}

/// A surface whose planes end at a guard page, and whose bytes between rows are watched.
final class TestSurface {
    static let untouched: UInt8 = 0xA5

    let size: PictureSize
    let padded: PictureSize
    let layout: PictureSurface.Layout
    private let gap: Int
    private let planes: [GuardedMemory]

    init(_ layout: PictureSurface.Layout, size: PictureSize, padded: PictureSize? = nil, gap: Int = 0) {
        self.size = size
        self.padded = padded ?? size
        self.layout = layout
        self.gap = gap
        let (width, height) = (self.padded.width, self.padded.height)
        let chromaWidth = (width + 1) / 2
        let chroma =
            layout == .nv12
            ? [(2 * chromaWidth, (height + 1) / 2)]
            : [(chromaWidth, (height + 1) / 2), (chromaWidth, (height + 1) / 2)]
        planes = ([(width, height)] + chroma).map { rowBytes, rows in
            let memory = GuardedMemory(count: (rowBytes + gap) * (rows - 1) + rowBytes)
            memory.bytes.update(repeating: Self.untouched)
            return memory
        }
    }

    private func rowBytes(_ plane: Int) -> Int {
        plane == 0 ? padded.width : (padded.width + 1) / 2 * (layout == .nv12 ? 2 : 1)
    }

    private func plane(_ number: Int) -> PictureSurface.Plane {
        .init(planes[number].bytes.baseAddress!, stride: rowBytes(number) + gap)
    }

    var surface: PictureSurface {
        PictureSurface(
            size: size, paddedSize: padded, luma: plane(0),
            chroma: layout == .nv12 ? .interleaved(plane(1)) : .separate(cb: plane(1), cr: plane(2)))
    }

    /// Samples of the padded picture: plane 0 is luma, 1 Cb, 2 Cr.
    func sample(_ component: Int, _ x: Int, _ y: Int) -> UInt8 {
        if layout == .nv12, component > 0 {
            return planes[1].bytes[y * (rowBytes(1) + gap) + 2 * x + component - 1]
        }
        return planes[component].bytes[y * (rowBytes(component) + gap) + x]
    }

    /// Whether nothing was written between the rows.
    var isGapUntouched: Bool {
        planes.indices.allSatisfy { number in
            let stride = rowBytes(number) + gap
            return planes[number].bytes.indices.allSatisfy {
                $0 % stride < rowBytes(number) || planes[number].bytes[$0] == Self.untouched
            }
        }
    }
}

/// The 4:2:0 samples that a surface should contain, as exact numbers.
struct ReferencePicture {
    let size: PictureSize
    private(set) var planes: [[Double]]

    var chromaSize: (width: Int, height: Int) { ((size.width + 1) / 2, (size.height + 1) / 2) }

    /// From the three samples of every pixel: chroma is the mean over each 2×2 block, edges repeated.
    init(
        size: PictureSize, rounded: Bool, pixel: (_ x: Int, _ y: Int) -> (Double, Double, Double)
    ) {
        self.size = size
        planes = [[], [], []]
        for y in 0..<size.height {
            for x in 0..<size.width { planes[0].append(pixel(x, y).0) }
        }
        for y in 0..<chromaSize.height {
            for x in 0..<chromaSize.width {
                var sum = (0.0, 0.0)
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let (_, cb, cr) = pixel(
                        min(2 * x + dx, size.width - 1), min(2 * y + dy, size.height - 1))
                    sum = (sum.0 + cb, sum.1 + cr)
                }
                planes[1].append(rounded ? ((sum.0 + 2) / 4).rounded(.down) : sum.0 / 4)
                planes[2].append(rounded ? ((sum.1 + 2) / 4).rounded(.down) : sum.1 / 4)
            }
        }
    }

    /// The content of a surface without margins.
    init(copying surface: TestSurface) {
        size = surface.size
        planes = [[], [], []]
        for plane in 0..<3 {
            let (width, height) = plane == 0 ? (size.width, size.height) : chromaSize
            for y in 0..<height {
                for x in 0..<width { planes[plane].append(Double(surface.sample(plane, x, y))) }
            }
        }
    }

    /// The top left part of it.
    func cropped(to part: PictureSize) -> ReferencePicture {
        ReferencePicture(
            size: part,
            planes: (0..<3).map { plane in
                let width = plane == 0 ? size.width : chromaSize.width
                let (columns, rows) =
                    plane == 0 ? (part.width, part.height) : ((part.width + 1) / 2, (part.height + 1) / 2)
                return (0..<rows).flatMap { planes[plane][$0 * width..<$0 * width + columns] }
            })
    }

    init(size: PictureSize, planes: [[Double]]) {
        self.size = size
        self.planes = planes
    }

    /// The picture in another encoding, via RGB; a pixel's chroma is its block's.
    func recolored(from: ColorEncoding, to: ColorEncoding) -> ReferencePicture {
        var result = self
        func change(_ luma: Double, _ chroma: Int) -> (Double, Double, Double) {
            let rgb = ReferenceColor.rgb(luma, planes[1][chroma], planes[2][chroma], from)
            return ReferenceColor.yCbCr(rgb.0, rgb.1, rgb.2, to)
        }
        for y in 0..<size.height {
            for x in 0..<size.width {
                let chroma = y / 2 * chromaSize.width + x / 2
                result.planes[0][y * size.width + x] = change(planes[0][y * size.width + x], chroma).0
            }
        }
        for chroma in planes[1].indices {
            (_, result.planes[1][chroma], result.planes[2][chroma]) = change(128, chroma)
        }
        return result
    }

    /// The largest difference from a surface, margins included.
    func difference(from surface: TestSurface) -> Double {
        var largest = 0.0
        for plane in 0..<3 {
            let (width, height) = plane == 0 ? (size.width, size.height) : chromaSize
            let columns = plane == 0 ? surface.padded.width : (surface.padded.width + 1) / 2
            let rows = plane == 0 ? surface.padded.height : (surface.padded.height + 1) / 2
            for y in 0..<rows {
                for x in 0..<columns {
                    let place = min(y, height - 1) * width + min(x, width - 1)
                    let exact = min(max(planes[plane][place], 0), 255)
                    largest = max(largest, abs(Double(surface.sample(plane, x, y)) - exact))
                }
            }
        }
        return largest
    }
}

/// The equations of H.273, with R, G and B in 0 … 255.
enum ReferenceColor {
    private static func weights(_ matrix: ColorEncoding.Matrix) -> (Double, Double) {
        switch matrix {
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }

    static func yCbCr(
        _ red: Double, _ green: Double, _ blue: Double, _ color: ColorEncoding
    ) -> (Double, Double, Double) {
        let (kr, kb) = weights(color.matrix)
        let y = (kr * red + (1 - kr - kb) * green + kb * blue) / 255
        let pb = 0.5 * (blue / 255 - y) / (1 - kb)
        let pr = 0.5 * (red / 255 - y) / (1 - kr)
        return color.range == .full
            ? (255 * y, 255 * pb + 128, 255 * pr + 128)
            : (219 * y + 16, 224 * pb + 128, 224 * pr + 128)
    }

    static func rgb(
        _ y: Double, _ cb: Double, _ cr: Double, _ color: ColorEncoding
    ) -> (Double, Double, Double) {
        let (kr, kb) = weights(color.matrix)
        let isFull = color.range == .full
        let luma = isFull ? y / 255 : (y - 16) / 219
        let pb = (cb - 128) / (isFull ? 255 : 224)
        let pr = (cr - 128) / (isFull ? 255 : 224)
        let red = luma + 2 * (1 - kr) * pr
        let blue = luma + 2 * (1 - kb) * pb
        return (255 * red, 255 * (luma - kr * red - kb * blue) / (1 - kr - kb), 255 * blue)
    }
}

/// Bytes that look random and are the same every time.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}

extension ColorEncoding {
    static let limited601 = ColorEncoding(range: .limited, matrix: .bt601)
    static let limited709 = ColorEncoding(range: .limited, matrix: .bt709)
    static let full601 = ColorEncoding(range: .full, matrix: .bt601)
    static let full709 = ColorEncoding(range: .full, matrix: .bt709)
    static let limited2020 = ColorEncoding(range: .limited, matrix: .bt2020)
}
