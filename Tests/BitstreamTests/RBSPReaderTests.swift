import Testing

@testable import Bitstream

@Suite struct RBSPReaderTests {
    private func read<Result>(_ digits: String, _ body: (inout RBSPReader) throws -> Result) rethrows
        -> Result
    {
        try hex(digits).withUnsafeBytes { bytes in
            var reader = RBSPReader(bytes, headerLength: 1)
            return try body(&reader)
        }
    }

    private func reason(_ digits: String, _ body: (inout RBSPReader) throws -> Void) -> SyntaxError.Reason? {
        do {
            try read(digits, body)
            return nil
        } catch {
            return (error as? SyntaxError)?.reason
        }
    }

    @Test func fixedLengthElements() throws {
        try read("ff 123456789a") { (reader) throws in
            #expect(try reader.u(4, "a") == 1)
            #expect(try reader.u(32, "b") == 0x2345_6789)
            #expect(try reader.flag("c"))
            #expect(try reader.u(0, "d") == 0)
            #expect(reader.bitOffset == 8 + 37)
        }
    }

    @Test func unsignedExpGolombCodesOfTable9_2() throws {
        // 1 010 011 00100 00101 00110 00111 0001000
        try read("ff a6 42 98 e2 04 80") { (reader) throws in
            for expected in 0...8 { #expect(try reader.ue("e") == expected) }
        }
    }

    @Test func signedExpGolombCodesOfTable9_3() throws {
        try read("ff a6 42 98 e2 04 80") { (reader) throws in
            for expected in [0, 1, -1, 2, -2, 3, -3, 4, -4] { #expect(try reader.se("e") == expected) }
        }
    }

    @Test func largestExpGolombCodes() throws {
        var writer = BitWriter()
        writer.ue(0xFFFF_FFFE)
        writer.se(-0x7FFF_FFFF)
        try writer.nalUnit(header: 0xFF).withUnsafeBytes { (bytes) throws in
            var reader = RBSPReader(bytes, headerLength: 1)
            #expect(try reader.ue("e") == 0xFFFF_FFFE)
            #expect(try reader.se("e") == -0x7FFF_FFFF)
        }
    }

    @Test func codesThatAreTooLongAreRefused() {
        #expect(reason("ff 0000030000030000030000") { _ = try $0.ue("e") } == .invalidExpGolombCode)
        // 32 leading zeros and a value that does not fit into 32 bits.
        #expect(
            reason("ff 000003000003 ffffffff ff") { _ = try $0.ue("e") }
                == .outOfRange(value: 0x1_FFFF_FFFE, allowed: 0...0xFFFF_FFFE))
    }

    @Test func valuesOutOfRangeAreRefused() {
        #expect(reason("ff 20") { _ = try $0.ue("e", in: 0...2) } == .outOfRange(value: 3, allowed: 0...2))
    }

    @Test func emulationPreventionBytesArePassedOver() throws {
        try read("ff 0000 03 01 0000 03 00") { (reader) throws in
            #expect(try reader.u(24, "a") == 1)
            #expect(try reader.u(24, "b") == 0)
            #expect(reader.bitOffset == 72)
        }
    }

    @Test func theEndIsAnError() {
        #expect(reason("ff 12") { _ = try $0.u(9, "e") } == .truncated)
        #expect(reason("ff 00") { _ = try $0.ue("e") } == .truncated)
        #expect(reason("ff 0000 03") { _ = try $0.u(17, "e") } == .truncated)
        #expect(reason("ff") { _ = try $0.flag("e") } == .truncated)
        #expect(reason("") { _ = try $0.flag("e") } == .truncated)
    }

    @Test func trailingBitsAreNoMoreData() throws {
        try read("ff a0 80") { (reader) throws in
            #expect(reader.hasMoreData)
            _ = try reader.u(8, "a")
            #expect(!reader.hasMoreData)
        }
        try read("ff a8") { (reader) throws in
            _ = try reader.u(4, "a")
            #expect(!reader.hasMoreData)
        }
        #expect(!read("ff") { $0.hasMoreData })
    }

    @Test func errorsSayElementAndPlace() {
        let error = SyntaxError(
            element: "level_idc", reason: .outOfRange(value: 7, allowed: 0...3), bitOffset: 42)
        #expect(error.description == "level_idc: 7 is not in 0...3 (bit 42)")
    }
}
