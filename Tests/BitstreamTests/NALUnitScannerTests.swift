import TestSupport
import Testing

@testable import Bitstream

@Suite struct NALUnitScannerTests {
    private func location(_ bytes: Range<Int>, _ startCodeLength: Int) -> NALUnitScanner.Location {
        NALUnitScanner.Location(bytes: bytes, startCodeLength: startCodeLength)
    }

    @Test func bothStartCodesAreFound() {
        #expect(
            scan(hex("00000001 6742 000001 68ce 00000001 65")) == [
                location(4..<6, 4), location(9..<11, 3), location(15..<16, 4),
            ])
    }

    @Test func zerosAheadAndBehindBelongToNoUnit() {
        #expect(
            scan(hex("0000000000 000001 6742 0000000000 000001 68ce 0000")) == [
                location(8..<10, 4), location(18..<20, 4),
            ])
    }

    @Test func emulationPreventionIsLeftAlone() {
        #expect(scan(hex("000001 65 000003 000003 01")) == [location(3..<11, 3)])
    }

    @Test func emptyUnitsAreReportedAsSuch() {
        #expect(scan(hex("000001 000001 67")) == [location(3..<3, 3), location(6..<7, 3)])
        #expect(scan(hex("000001")) == [location(3..<3, 3)])
    }

    @Test(arguments: ["", "00", "0000", "000000000000", "0001", "67426742674267426742"])
    func bytesWithoutStartCodeHaveNoUnits(_ digits: String) {
        #expect(scan(hex(digits)).isEmpty)
    }

    @Test func whatPrecedesTheFirstStartCodeIsPassedOver() {
        #expect(scan(hex("ffff 000001 67")) == [location(5..<6, 3)])
    }

    @Test func startCodesAreFoundAtEveryPosition() {
        for length in 3...110 {
            for position in 0...(length - 3) {
                var bytes = [UInt8](repeating: 0xAA, count: length)
                bytes.replaceSubrange(position..<position + 3, with: [0, 0, 1])
                #expect(scan(bytes) == [location(position + 3..<length, 3)])
            }
        }
    }

    @Test func agreesWithTheObviousScanner() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let count = Int.random(in: 0...200, using: &generator)
            let bytes = (0..<count).map { _ in
                [0, 0, 0, 1, 1, 2, 3, 0x80][Int.random(in: 0...7, using: &generator)] as UInt8
            }
            #expect(scan(bytes) == referenceScan(bytes))
        }
    }

    @Test func otherBytesInTheMiddleAreSafe() {
        var scanner = NALUnitScanner()
        let long = annexB([Sample.sps, Sample.pps, Sample.idr])
        let short = hex("000001")
        #expect(scanner.next(in: long) != nil)
        #expect(scanner.next(in: short) == nil)
        #expect(scanner.next(in: ([] as [UInt8])) == nil)
    }
}
