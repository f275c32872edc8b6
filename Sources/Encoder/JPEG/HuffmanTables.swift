import CamPictures

/// The Huffman tables of a baseline JPEG picture (ITU-T T.81, B.2.4.2): two for DC, two for AC coefficients.
struct HuffmanTables {
    struct Table {
        /// How many codes there are of each length, from 1 on.
        var counts = InlineArray<16, UInt8>(repeating: 0)
        /// In the order of the codes.
        var values = InlineArray<162, UInt8>(repeating: 0)
        fileprivate var isKnown = false
    }

    private(set) var dc = InlineArray<2, Table>(repeating: Table())
    private(set) var ac = InlineArray<2, Table>(repeating: Table())

    /// The tables that Motion JPEG may leave out.
    private static let standard: HuffmanTables = {
        var tables = HuffmanTables()
        // Behind the marker and the length
        StandardHuffmanTables.segment(without: []).withUnsafeBytes { segment in
            try? tables.read(UnsafeRawBufferPointer(rebasing: segment.dropFirst(4)))
        }
        return tables
    }()

    /// Takes the standard ones in place of those that are missing.
    mutating func addStandardTables() {
        for number in 0..<2 {
            if !dc[number].isKnown { dc[number] = Self.standard.dc[number] }
            if !ac[number].isKnown { ac[number] = Self.standard.ac[number] }
        }
    }

    /// - Parameter bytes: a segment's parameters.
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
                // Sizes of coefficients, to 11 bits and 10 (F.1.2).
                guard isAC ? value & 15 <= 10 : value <= 11 else {
                    throw .damaged("a Huffman table has a value that is none")
                }
                table.values[index] = value
            }
            if isAC { ac[Int(head & 15)] = table } else { dc[Int(head & 15)] = table }
            place += 17 + count
        }
    }

    /// Returns how many codes there are.
    private static func readCounts(
        of table: inout Table, from bytes: UnsafeRawBufferPointer, at place: Int
    ) throws(BaselineJPEG.Unsuitability) -> Int {
        var (count, code) = (0, 0)
        for length in 0..<16 {
            table.counts[length] = bytes[place + length]
            count += Int(table.counts[length])
            code += Int(table.counts[length])
            // The code of ones alone is reserved (C.2).
            guard code < 2 << length else { throw .damaged("a Huffman table has more codes than fit") }
            code <<= 1
        }
        table.isKnown = true
        return count
    }
}
