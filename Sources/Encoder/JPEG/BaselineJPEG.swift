import CamPictures
import Glibc

/// A baseline JPEG picture, parsed for a GPU's decoder (ITU-T T.81).
///
/// The parser validates every header, table and length, so no malformed structure from a camera reaches a
/// driver. It does not decode the samples and cannot tell whether they are damaged.
struct BaselineJPEG {
    /// The chroma subsampling.
    enum Sampling: Sendable { case c420, c422 }

    /// Why the GPU does not get a picture.
    enum Unsuitability: Error, Hashable {
        /// The picture is valid, but hardware does not decode this kind, or not into NV12.
        case kind(String)
        case damaged(String)

        var reason: String {
            switch self {
            case .kind(let reason), .damaged(let reason): reason
            }
        }
    }

    struct Component {
        var identifier: UInt8 = 0
        fileprivate var factors: UInt8 = 0
        var horizontalFactor: UInt8 { factors >> 4 }
        var verticalFactor: UInt8 { factors & 15 }
        var quantization: UInt8 = 0
        var dcTable: UInt8 = 0
        var acTable: UInt8 = 0
    }

    typealias QuantizationTable = InlineArray<64, UInt8>

    private(set) var width = 0
    private(set) var height = 0
    private(set) var sampling = Sampling.c420
    /// Y, Cb and Cr, in this order.
    private(set) var components = InlineArray<3, Component>(repeating: Component())
    /// The quantization tables, in zigzag order. All tables that components refer to are set.
    private(set) var quantization = InlineArray<4, QuantizationTable>(repeating: .init(repeating: 0))
    private(set) var huffman = HuffmanTables()
    /// The number of MCUs between restart markers; 0 for none.
    private(set) var restartInterval = 0
    private(set) var unitCount = 0
    /// The picture's height rounded up to whole MCUs.
    private(set) var coveredHeight = 0
    /// The byte range of the coded samples.
    private(set) var scan = 0..<0
    private var knownQuantization: UInt8 = 0

    /// - Parameters:
    ///   - bytes: a picture; bytes after its end are ignored.
    ///   - size: the size of the stream's pictures. This picture may exceed it by less than an MCU.
    ///   - room: the size of the surface, which must hold whole MCUs.
    init(
        _ bytes: UnsafeRawBufferPointer, size: PictureSize, room: PictureSize
    ) throws(Unsuitability) {
        var hasFrame = false
        for segment in JPEGSegments(bytes) {
            let parameters = UnsafeRawBufferPointer(rebasing: bytes[segment.parameters])
            switch segment.marker {
            case 0xC0:
                if hasFrame { throw .damaged("it has two frame headers") }
                hasFrame = true
                try readFrame(parameters, size: size, room: room)
            case 0xC4: try huffman.read(parameters)
            case 0xDB: try readQuantizationTables(parameters)
            case 0xDD:
                guard parameters.count == 2 else { throw .damaged("its restart interval is no number") }
                restartInterval = Self.number(parameters, at: 0)
            case 0xEE: try readAdobe(parameters)
            case 0xDA:
                guard hasFrame else { throw .damaged("it has no frame header") }
                try readScan(parameters)
                try findEnd(of: bytes, from: segment.bytes.upperBound)
                return
            case 0xE0...0xEF, 0xFE: break  // applications' data, and comments
            default:
                throw segment.isFrameHeader
                    ? .kind("it is not baseline") : .damaged("it has a strange marker")
            }
        }
        throw .damaged("it has no scan")
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
        Int(bytes[place]) << 8 | Int(bytes[place + 1])
    }

    /// Whether the picture defines the quantization table.
    func hasQuantization(_ number: Int) -> Bool { knownQuantization >> number & 1 == 1 }

    // MARK: Frame header

    private mutating func readFrame(
        _ bytes: UnsafeRawBufferPointer, size: PictureSize, room: PictureSize
    ) throws(Unsuitability) {
        guard bytes.count >= 6, bytes.count == 6 + 3 * Int(bytes[5]) else {
            throw .damaged("its frame header is cut off")
        }
        guard bytes[0] == 8 else { throw .kind("it has \(bytes[0]) bits a sample") }
        guard bytes[5] == 3 else { throw .kind("it has \(bytes[5]) components") }
        (height, width) = (Self.number(bytes, at: 1), Self.number(bytes, at: 3))
        for index in 0..<3 {
            let place = 6 + 3 * index
            guard bytes[place + 2] < 4 else { throw .damaged("a component has no quantisation table") }
            components[index] = Component(
                identifier: bytes[place], factors: bytes[place + 1], quantization: bytes[place + 2])
        }
        let identifiers = (components[0].identifier, components[1].identifier, components[2].identifier)
        guard identifiers.0 != identifiers.1, identifiers.1 != identifiers.2, identifiers.0 != identifiers.2
        else { throw .damaged("two components have one identifier") }
        // libjpeg recognizes RGB by the identifiers R, G, B.
        if identifiers == (0x52, 0x47, 0x42) { throw .kind("it is not Y′CbCr") }
        switch (components[0].factors, components[1].factors, components[2].factors) {
        case (0x22, 0x11, 0x11): sampling = .c420
        // ffmpeg writes the second form.
        case (0x21, 0x11, 0x11), (0x22, 0x12, 0x12): sampling = .c422
        default: throw .kind("its chroma is neither 4:2:0 nor 4:2:2")
        }
        let unit = (width: 16, height: 8 * Int(components[0].verticalFactor))
        let (across, down) = (
            (width + unit.width - 1) / unit.width, (height + unit.height - 1) / unit.height
        )
        guard (size.width..<size.width + unit.width).contains(width),
            (size.height..<size.height + unit.height).contains(height),
            across * unit.width <= room.width, down * unit.height <= room.height
        else { throw .damaged("it is a picture of \(width)x\(height) in a stream of \(size)") }
        (unitCount, coveredHeight) = (across * down, down * unit.height)
    }

    /// Refuses color spaces other than Y′CbCr, which Adobe's segment codes as 1.
    private func readAdobe(_ bytes: UnsafeRawBufferPointer) throws(Unsuitability) {
        guard bytes.count >= 12, bytes.starts(with: "Adobe".utf8) else { return }
        if bytes[11] != 1 { throw .kind("it is not Y′CbCr") }
    }

    // MARK: Tables

    private mutating func readQuantizationTables(_ bytes: UnsafeRawBufferPointer) throws(Unsuitability) {
        var place = 0
        while place < bytes.count {
            let head = bytes[place]
            guard head >> 4 == 0 else { throw .kind("its quantisation tables have 16 bits") }
            guard head < 4, place + 65 <= bytes.count else {
                throw .damaged("a quantisation table is cut off")
            }
            for index in 0..<64 {
                let value = bytes[place + 1 + index]
                guard value > 0 else { throw .damaged("a quantisation table has a nought") }
                quantization[Int(head)][index] = value
            }
            knownQuantization |= 1 << head
            place += 65
        }
    }

    // MARK: Scan

    private mutating func readScan(_ bytes: UnsafeRawBufferPointer) throws(Unsuitability) {
        guard let count = bytes.first, bytes.count == 4 + 2 * Int(count) else {
            throw .damaged("its scan header is cut off")
        }
        guard count == 3 else { throw .kind("its components are in scans of their own") }
        for index in 0..<3 {
            let tables = bytes[2 + 2 * index]
            guard bytes[1 + 2 * index] == components[index].identifier, tables >> 4 <= 1, tables & 15 <= 1
            else { throw .damaged("its scan has other components than its frame") }
            guard hasQuantization(Int(components[index].quantization)) else {
                throw .damaged("a quantisation table is missing")
            }
            (components[index].dcTable, components[index].acTable) = (tables >> 4, tables & 15)
        }
        guard bytes[7] == 0, bytes[8] == 63, bytes[9] == 0 else {
            throw .damaged("its scan is not a baseline one")
        }
        huffman.addStandardTables()
    }

    /// Finds the end of the coded samples and checks that the restart markers match the interval.
    private mutating func findEnd(
        of bytes: UnsafeRawBufferPointer, from start: Int
    ) throws(Unsuitability) {
        guard let base = bytes.baseAddress else { throw .damaged("it is cut off") }
        var (place, restarts) = (start, 0)
        while place < bytes.count, let found = memchr(base + place, 0xFF, bytes.count - place) {
            let offset = UnsafeRawPointer(found) - base
            guard offset + 1 < bytes.count else { break }
            let marker = bytes[offset + 1]
            switch marker {
            case 0x00: place = offset + 2
            case 0xFF: place = offset + 1
            case 0xD0...0xD7:
                guard restartInterval > 0, Int(marker & 7) == restarts & 7 else {
                    throw .damaged("its restart markers are out of order")
                }
                restarts += 1
                place = offset + 2
            case 0xD9:
                guard restartInterval == 0 || restarts == (unitCount - 1) / restartInterval, offset > start
                else { throw .damaged("a part of it is missing") }
                scan = start..<offset
                return
            default: throw .damaged("it has a marker among its samples")
            }
        }
        throw .damaged("it is cut off")
    }
}

/// The Huffman tables of a baseline JPEG picture (ITU-T T.81, B.2.4.2): two for DC, two for AC coefficients.
struct HuffmanTables {
    struct Table {
        /// The number of codes of each length, from 1 bit on.
        var counts = InlineArray<16, UInt8>(repeating: 0)
        /// The coded values, in the order of the codes.
        var values = InlineArray<162, UInt8>(repeating: 0)
        fileprivate var isKnown = false
    }

    private(set) var dc = InlineArray<2, Table>(repeating: Table())
    private(set) var ac = InlineArray<2, Table>(repeating: Table())

    /// The standard tables, which Motion JPEG may omit.
    private static let standard: HuffmanTables = {
        var tables = HuffmanTables()
        // Skips the marker and the length.
        StandardHuffmanTables.segment(without: []).withUnsafeBytes { segment in
            try? tables.read(UnsafeRawBufferPointer(rebasing: segment.dropFirst(4)))
        }
        return tables
    }()

    /// Replaces missing tables by the standard ones.
    mutating func addStandardTables() {
        for number in 0..<2 {
            if !dc[number].isKnown { dc[number] = Self.standard.dc[number] }
            if !ac[number].isKnown { ac[number] = Self.standard.ac[number] }
        }
    }

    /// - Parameter bytes: the parameters of a DHT segment.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(BaselineJPEG.Unsuitability) {
        var place = 0
        while place < bytes.count {
            guard place + 17 <= bytes.count else { throw .damaged("a Huffman table is cut off") }
            let (head, isAC) = (bytes[place], bytes[place] >> 4 == 1)
            guard head >> 4 <= 1, head & 15 <= 1 else {
                throw .kind("it has more Huffman tables than baseline")
            }
            var table = Table()
            let count = try Self.readCounts(of: &table, from: bytes, at: place + 1)
            guard count > 0, count <= (isAC ? 162 : 12), place + 17 + count <= bytes.count else {
                throw .damaged("a Huffman table has no values, or too many")
            }
            for index in 0..<count {
                let value = bytes[place + 17 + index]
                // Values are coefficient sizes: up to 11 bits for DC and 10 for AC (F.1.2).
                guard isAC ? value & 15 <= 10 : value <= 11 else {
                    throw .damaged("a Huffman table has a value that is none")
                }
                table.values[index] = value
            }
            if isAC { ac[Int(head & 15)] = table } else { dc[Int(head & 15)] = table }
            place += 17 + count
        }
    }

    /// Reads the number of codes of each length, and returns the total.
    private static func readCounts(
        of table: inout Table, from bytes: UnsafeRawBufferPointer, at place: Int
    ) throws(BaselineJPEG.Unsuitability) -> Int {
        var (count, code) = (0, 0)
        for length in 0..<16 {
            table.counts[length] = bytes[place + length]
            count += Int(table.counts[length])
            code += Int(table.counts[length])
            // A code must not consist of ones alone (C.2).
            guard code < 2 << length else { throw .damaged("a Huffman table has more codes than fit") }
            code <<= 1
        }
        table.isKnown = true
        return count
    }
}
