import CamPictures

/// Makes the JPEG of a camera a file that every program reads, without recompressing it.
///
/// Motion JPEG leaves out the standard Huffman tables, may end in padding, and has segments that only its
/// camera understands. A still picture is a JPEG with all tables, and with metadata at the front.
public enum JPEGFile {
    /// Returns the bytes of the file.
    ///
    /// The coded samples are copied unchecked: damage in them stays.
    /// - Parameters:
    ///   - picture: the bytes from the start marker on; anything may follow the end marker.
    ///   - size: the picture's size. Cameras round up to whole blocks; the excess is cut off.
    ///   - metadata: replaces the metadata of the camera.
    public static func standard(
        _ picture: UnsafeRawBufferPointer, size: PictureSize, metadata: ExifMetadata
    ) throws(ImageError) -> [UInt8] {
        var file: [UInt8] = [0xFF, 0xD8] + metadata.jpegSegment
        file.reserveCapacity(file.count + picture.count + 512)
        var (tables, isHuffmanCoded) = (Set<UInt8>(), false)
        for segment in JPEGSegments(picture) {
            let parameters = picture[segment.parameters]
            if segment.isScanHeader {
                if isHuffmanCoded { file += StandardHuffmanTables.segment(without: tables) }
                let end = end(of: picture, scan: segment)
                return file + picture[segment.bytes.lowerBound..<end] + [0xFF, 0xD9]
            }
            if isLeftOut(segment, parameters) { continue }
            let start = file.count
            file += picture[segment.bytes]
            if segment.marker == 0xC4 { tables.formUnion(StandardHuffmanTables.destinations(in: parameters)) }
            if segment.isFrameHeader {
                // Baseline and extended sequential, like Motion JPEG. Pictures of other processes always have
                // their tables.
                isHuffmanCoded = segment.marker <= 0xC1
                crop(&file[(start + segment.parameters.lowerBound - segment.bytes.lowerBound)...], to: size)
            }
        }
        throw .notJPEG
    }

    /// Whether to leave out a segment: replaced metadata, or one with meaning only within a video.
    private static func isLeftOut(
        _ segment: JPEGSegments.Segment, _ parameters: Slice<UnsafeRawBufferPointer>
    ) -> Bool {
        switch segment.marker {
        case 0xE0: parameters.starts(with: "AVI1".utf8)
        case 0xE1: parameters.starts(with: "Exif".utf8)
        default: false
        }
    }

    /// Writes a smaller size into a frame header, if that does not change the number of coded blocks.
    private static func crop(_ header: inout ArraySlice<UInt8>, to size: PictureSize) {
        let first = header.startIndex
        guard header.count >= 6, header.count >= 6 + 3 * Int(header[first + 5]) else { return }
        let factors = (0..<Int(header[first + 5])).map { header[first + 7 + 3 * $0] }
        func crop(_ place: Int, to length: Int, _ factor: UInt8) {
            let unit = 8 * Int(max(1, factor))
            let coded = Int(header[place]) << 8 | Int(header[place + 1])
            guard coded > length, (coded + unit - 1) / unit == (length + unit - 1) / unit else { return }
            (header[place], header[place + 1]) = (UInt8(length >> 8), UInt8(length & 255))
        }
        crop(first + 1, to: size.height, factors.map { $0 & 15 }.max() ?? 1)
        crop(first + 3, to: size.width, factors.map { $0 >> 4 }.max() ?? 1)
    }

    /// Returns the offset of the end marker, or of its place if it is missing.
    private static func end(of picture: UnsafeRawBufferPointer, scan: JPEGSegments.Segment) -> Int {
        var place = scan.bytes.upperBound
        while place + 1 < picture.count {
            guard picture[place] == 0xFF else {
                place += 1
                continue
            }
            switch picture[place + 1] {
            case 0, 0xD0...0xD7: place += 2
            case 0xFF: place += 1
            case 0xD9: return place
            default:
                // Tables and the next scan of a progressive picture.
                var segments = JPEGSegments(picture, from: place)
                guard let next = segments.next() else { return picture.count }
                place = next.bytes.upperBound
            }
        }
        return picture.count
    }
}

// MARK: Errors

/// Why a picture cannot be stored as an image. `description` is one line: thing, cause, next step.
public enum ImageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The picture is not a JPEG, or is damaged.
    case notJPEG
    /// libavcodec could not encode the picture as PNG.
    case pngFailed(detail: String)
    case outOfMemory

    public var description: String {
        switch self {
        case .notJPEG: "the picture is not a JPEG; try another --format"
        case .pngFailed(let detail): "cannot write the picture as PNG: \(detail); write a .jpg"
        case .outOfMemory: "out of memory; close other programs, or use a smaller --size"
        }
    }
}
