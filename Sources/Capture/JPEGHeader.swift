import CamPictures

/// The frame header of a JPEG (ITU-T T.81, B.2.2).
struct JPEGHeader: Equatable {
    let size: PictureSize
    /// The width in pixels of an MCU, the unit of coding.
    let unitWidth: Int
    let unitHeight: Int

    /// Whether the frame holds a picture of size `wanted`: cameras round up to whole MCUs, and the excess is
    /// cut off.
    func holds(_ wanted: PictureSize) -> Bool {
        (wanted.width..<wanted.width + unitWidth).contains(size.width)
            && (wanted.height..<wanted.height + unitHeight).contains(size.height)
    }
}

extension JPEGHeader {
    /// Returns nil if the frame header is missing, truncated or invalid.
    init?(_ bytes: UnsafeRawBufferPointer) {
        for segment in JPEGSegments(bytes) where segment.isFrameHeader {
            self.init(frame: UnsafeRawBufferPointer(rebasing: bytes[segment.parameters]))
            return
        }
        return nil
    }

    /// - Parameter bytes: from the sample precision on.
    private init?(frame bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 6, bytes.count >= 6 + 3 * Int(bytes[5]) else { return nil }
        var (across, down) = (1, 1)
        for component in 0..<Int(bytes[5]) {
            let factors = Int(bytes[6 + 3 * component + 1])
            (across, down) = (max(across, factors >> 4), max(down, factors & 15))
        }
        guard let size = PictureSize(Int(bytes[3]) << 8 | Int(bytes[4]), Int(bytes[1]) << 8 | Int(bytes[2]))
        else { return nil }
        self.init(size: size, unitWidth: 8 * across, unitHeight: 8 * down)
    }
}

/// Notices when a camera's JPEGs persistently have another size than the driver granted.
struct JPEGSizeWatch {
    private var other: PictureSize?
    private var count = 0
    /// A damaged header does not repeat the same size this often.
    private static let steadyCount = 5

    /// - Parameter granted: the size that the stream's pictures should have.
    /// - Returns: the pictures' real size; nil as long as it is `granted` or uncertain.
    mutating func change(from granted: PictureSize, in picture: UnsafeRawBufferPointer) -> PictureSize? {
        guard let header = JPEGHeader(picture) else { return nil }
        guard !header.holds(granted) else {
            other = nil
            return nil
        }
        count = header.size == other ? count + 1 : 1
        other = header.size
        return count >= Self.steadyCount ? other : nil
    }
}
