/// The properties that all pictures of a stream share, as granted by the driver.
public final class PictureFormat: Sendable, Equatable {
    /// One plane of samples. A 4:2:0 picture in a single memory plane has two or three of them.
    public struct Plane: Sendable, Hashable {
        /// The index of the memory plane in the buffer.
        public let memoryPlane: Int
        /// The offset from the first picture byte of the memory plane.
        public let offset: Int
        /// Bytes from one row to the next.
        public let stride: Int
        /// The bytes of a row without padding.
        public let rowBytes: Int
        /// Rows.
        public let rows: Int

        /// Bytes from the beginning of the first row to the end of the last row.
        public var length: Int { rows == 0 ? 0 : stride * (rows - 1) + rowBytes }
    }

    /// Every second row of a picture.
    public enum Field: Sendable, Hashable {
        /// The rows 0, 2, 4 …
        case top
        /// The rows 1, 3, 5 …
        case bottom
    }

    /// The arrangement of the picture in memory.
    public let pixelFormat: PixelFormat
    /// The size of the picture, without the padding of rows.
    public let size: PictureSize
    /// The rate promised by the driver; low light may halve it.
    public let frameRate: FrameRate
    /// The meaning of the samples; for RGB, that of the converted ones.
    public let color: ColorEncoding
    /// The siting of chroma in the 4:2:0 pictures converted from these.
    public let chromaSiting: ChromaSiting
    /// Nil for square pixels, and if unknown.
    public let pixelAspect: PixelAspect?
    /// Whether two fields, captured at different times, are interleaved in a picture or stored one after the
    /// other.
    public let isInterlaced: Bool
    /// The first field if each plane stores the fields one after another; nil if rows are in the
    /// picture's order.
    public let firstField: Field?
    /// Empty for compressed and vendor formats.
    public let planes: [Plane]
    /// Bytes from one row to the next in the first memory plane, by the driver; nil if it does not tell.
    /// libv4lconvert needs this for formats without `planes`.
    public let bytesPerLine: Int?
    /// The strides by the driver, for each memory plane.
    private let strides: [Int]?
    /// The bytes of a complete picture in each memory plane; 1 for formats that are not raw.
    public let minimumLengths: [Int]

    /// More than a row of any format; bounds the claims of a driver.
    private static let longestRow = 16 * PictureSize.maximumSide

    /// - Parameter strides: the driver's `bytesperline` for each memory plane. Nil means rows
    ///   without padding; a driver's 0 (compressed formats) is taken as that too.
    /// - Returns: nil if a stride is shorter than a row, or a plane cannot be halved into fields.
    public init?(
        _ pixelFormat: PixelFormat, size: PictureSize, frameRate: FrameRate, color: ColorEncoding,
        chromaSiting: ChromaSiting? = nil, pixelAspect: PixelAspect? = nil, isInterlaced: Bool = false,
        firstField: Field? = nil, strides: [Int]? = nil
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.frameRate = frameRate
        self.color = color
        self.chromaSiting = chromaSiting ?? pixelFormat.chromaSiting
        self.pixelAspect = pixelAspect
        self.isInterlaced = isInterlaced
        self.strides = strides
        guard let planes = Self.planes(of: pixelFormat, size: size, strides: strides) else { return nil }
        if firstField != nil, planes.isEmpty || planes.contains(where: { $0.rows % 2 != 0 }) { return nil }
        self.firstField = firstField
        self.planes = planes
        var lengths = Array(repeating: 1, count: pixelFormat.memoryPlaneCount)
        for plane in planes {
            lengths[plane.memoryPlane] = max(lengths[plane.memoryPlane], plane.offset + plane.length)
        }
        minimumLengths = lengths
        let bytesPerLine = strides?.first ?? 0
        guard bytesPerLine <= Self.longestRow else { return nil }
        self.bytesPerLine = bytesPerLine > 0 ? bytesPerLine : nil
    }

    /// Returns the same format at another rate.
    package func at(_ frameRate: FrameRate) -> PictureFormat? {
        PictureFormat(
            pixelFormat, size: size, frameRate: frameRate, color: color, chromaSiting: chromaSiting,
            pixelAspect: pixelAspect, isInterlaced: isInterlaced, firstField: firstField, strides: strides)
    }

    /// Returns the same compressed format with pictures of another size.
    package func resized(to size: PictureSize) -> PictureFormat? {
        PictureFormat(
            pixelFormat, size: size, frameRate: frameRate, color: color, chromaSiting: chromaSiting,
            pixelAspect: pixelAspect, isInterlaced: isInterlaced, firstField: firstField, strides: strides)
    }

    /// Whether pictures of one format can pass for pictures of the other.
    public static func == (first: PictureFormat, second: PictureFormat) -> Bool {
        first.pixelFormat == second.pixelFormat && first.size == second.size
            && first.frameRate == second.frameRate && first.color == second.color
            && first.chromaSiting == second.chromaSiting && first.pixelAspect == second.pixelAspect
            && first.isInterlaced == second.isInterlaced && first.firstField == second.firstField
            && first.planes == second.planes
            && first.bytesPerLine == second.bytesPerLine
    }

    private static func planes(of format: PixelFormat, size: PictureSize, strides: [Int]?) -> [Plane]? {
        let (width, height) = (size.width, size.height)
        /// Offsets follow from the stride, not the row, as drivers lay out padded planes. A chroma row has
        /// `samples` for every `horizontal` luma samples, and its stride is that share of the luma stride.
        func stack(_ rows: [(bytes: Int, count: Int, samples: Int, horizontal: Int)]) -> [Plane]? {
            var planes: [Plane] = []
            var offset = 0
            for (index, row) in rows.enumerated() {
                let separate = format.memoryPlaneCount > 1
                let memoryPlane = separate ? index : 0
                var stride = row.bytes
                if let strides, memoryPlane < strides.count, strides[memoryPlane] > 0 {
                    stride = separate ? strides[memoryPlane] : strides[0] * row.samples / row.horizontal
                }
                guard stride >= row.bytes, stride <= longestRow else { return nil }
                planes.append(
                    Plane(
                        memoryPlane: memoryPlane, offset: separate ? 0 : offset, stride: stride,
                        rowBytes: row.bytes, rows: row.count))
                offset += stride * row.count
            }
            return planes
        }
        func chromaSize(_ horizontal: Int, _ vertical: Int) -> (columns: Int, rows: Int) {
            ((width + horizontal - 1) / horizontal, (height + vertical - 1) / vertical)
        }
        switch format.arrangement {
        case .semiPlanar(let horizontal, let vertical, _):
            let (columns, rows) = chromaSize(horizontal, vertical)
            return stack([(width, height, 1, 1), (2 * columns, rows, 2, horizontal)])
        case .planar(let horizontal, let vertical, _):
            let (columns, rows) = chromaSize(horizontal, vertical)
            let chroma = (columns, rows, 1, horizontal)
            return stack([(width, height, 1, 1), chroma, chroma])
        case .packed422:
            return stack([(4 * ((width + 1) / 2), height, 1, 1)])
        case .rgb(let bytesPerPixel, _, _, _):
            return stack([(bytesPerPixel * width, height, 1, 1)])
        case .grey:
            return stack([(width, height, 1, 1)])
        case .jpeg, .h264, .vendor:
            return []
        }
    }
}

// MARK: Sizes

/// Width and height in pixels.
public struct PictureSize: Sendable, Hashable, CustomStringConvertible {
    /// The largest side that is accepted from a driver, a file or the command line. H.264's level 6.2 ends
    /// at 16,888 pixels a side (Annex A); the limit also keeps every product below within 32 bits.
    public static let maximumSide = 16384

    /// 1 … `maximumSide`.
    public let width: Int
    /// 1 … `maximumSide`.
    public let height: Int

    /// The default if nothing else is known: 1280x720.
    package static let usual = PictureSize(width: 1280, height: 720)

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Nil outside 1 … `maximumSide`.
    public init?(_ width: Int, _ height: Int) {
        guard (1...Self.maximumSide).contains(width), (1...Self.maximumSide).contains(height) else {
            return nil
        }
        self.width = width
        self.height = height
    }

    /// Reads `640x480`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, !text.contains("+"), let width = Int(parts[0]), let height = Int(parts[1])
        else { return nil }
        self.init(width, height)
    }

    /// Pixels.
    public var area: Int { width * height }

    public var description: String { "\(width)x\(height)" }
}

// MARK: Pixel aspect ratios

/// The shape of pixels that are not square.
public struct PixelAspect: Sendable, Hashable, CustomStringConvertible {
    /// The pixel's width in relation to its height; 1 … 65,535, in lowest terms.
    public let width: Int
    /// The pixel's height; 1 … 65,535, in lowest terms.
    public let height: Int

    /// More than any video has: larger values are mistakes.
    private static let extreme = 8

    /// Nil for square and for impossible pixels. A fraction of larger numbers is approximated.
    public init?(_ width: Int, _ height: Int) {
        guard width > 0, height > 0, width != height, width / height < Self.extreme,
            height / width < Self.extreme
        else { return nil }
        var (a, b) = (width, height)
        while b != 0 { (a, b) = (b, a % b) }
        (a, b) = (width / a, height / a)
        while max(a, b) > 65535 { (a, b) = ((a + 1) / 2, (b + 1) / 2) }
        guard a != b else { return nil }
        (self.width, self.height) = (a, b)
    }

    public var description: String { "\(width):\(height)" }
}
