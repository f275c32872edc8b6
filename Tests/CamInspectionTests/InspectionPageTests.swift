import Bitstream
import Testing

@testable import CamInspection

@Suite struct InspectionPageTests {
    /// 64x48, Constrained Baseline, as x264 writes it.
    private static let units: [[UInt8]] = [
        [
            0x67, 0x42, 0xC0, 0x0A, 0xDA, 0x11, 0xEC, 0x04, 0x40, 0x00, 0x00, 0x03, 0x00, 0x40, 0x00, 0x00,
            0x0C, 0xA3, 0xC4, 0x89, 0xA8,
        ],
        [0x68, 0xCE, 0x0F, 0xC8],
        [
            0x65, 0x88, 0x84, 0x3A, 0x26, 0x28, 0, 9, 2, 0xC9, 0xC9, 0xC9, 0xD7, 0x5D, 0x75, 0xD7, 0x5D, 0x75,
            0xE0,
        ],
        [0x41, 0x9A, 0x20, 0x3E, 0x86, 0xC0],
    ]

    /// User data that says `text`.
    private static func message(_ text: String) -> [UInt8] {
        [0x06, 0x05, UInt8(16 + text.utf8.count)] + [UInt8](repeating: 0x41, count: 16) + Array(text.utf8) + [
            0x80
        ]
    }

    private func inspection(named name: String = "a.h264", userData: String = "x") -> Inspection {
        var inspector = StreamInspector(codec: .h264)
        var offset = 0
        for unit in Self.units + [Self.message(userData), Self.units[3]] {
            inspector.inspect(unit.span.bytes, at: NALUnitPlace(offset: offset, prefixLength: 4))
            offset += 4 + unit.count
        }
        inspector.finish(byteCount: offset)
        return Inspection(name: name, summary: inspector.summary, pictures: inspector.pictures)
    }

    @Test func thePageHoldsTheSummaryAndTheParameterSets() {
        let page = InspectionPage(inspection()).html
        for text in [
            "Constrained Baseline profile", "64x48", "3: 1 I (1 IDR), 2 P, 0 B", "pic_width_in_mbs_minus1",
        ] {
            #expect(page.contains(text))
        }
        #expect(page.hasPrefix("<!DOCTYPE html>"))
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test func thePageAsksForNothingElse() {
        let page = InspectionPage(inspection()).html
        for text in ["http://", "https://", "src=", "@import", "url("] { #expect(!page.contains(text)) }
        #expect(page.contains("default-src 'none'"))
    }

    @Test func textFromOutsideIsHarmless() {
        let attack = "</script><script>alert('1')</script><img src=x onerror=\"a()\">&\u{202E}\u{1}"
        for page in [
            InspectionPage(inspection(named: attack)).html,
            InspectionPage(inspection(userData: "</script><script>alert(1)</script>")).html,
        ] {
            #expect(page.components(of: "<script") == 2)
            #expect(page.components(of: "</script>") == 2)
            #expect(!page.contains("<img"))
            #expect(!page.contains("alert('1')"))
            #expect(page.contains("&lt;/script&gt;&lt;script&gt;alert("))
            #expect(!page.unicodeScalars.contains("\u{202E}"))
        }
    }

    @Test func picturesArePackedInGroupsOfSevenBits() {
        let pictures = inspection().pictures
        let packed = PackedPictures.base64(of: pictures)
        var values: [Int] = []
        var (value, shift) = (0, 0)
        for byte in decodedBase64(packed) {
            value |= Int(byte & 127) << shift
            shift += 7
            if byte < 128 {
                values.append(value)
                (value, shift) = (0, 0)
            }
        }
        #expect(values == pictures.map { $0.byteCount << 4 | ($0.isIDR ? 12 : 0) | Int($0.kind.rawValue) })
    }

    @Test func base64FollowsRFC4648() {
        let cases = [
            "": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "foobar": "Zm9vYmFy",
        ]
        for (text, encoded) in cases { #expect(PackedPictures.base64(of: Array(text.utf8)) == encoded) }
    }

    @Test func theSummaryIsOneRowAFact() {
        let inspection = inspection()
        #expect(inspection.text.hasPrefix("a.h264: H.264, 64x48, 3 frames"))
        #expect(inspection.text.hasSuffix("problems        none"))
        #expect(inspection.headerText.contains("level_idc"))
    }
}

private func decodedBase64(_ text: String) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var (bytes, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
    for digit in text.utf8 {
        guard let value = digits.firstIndex(of: digit) else { break }
        bits = (bits << 6 | value) & 0xFFFF
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(bits >> count & 255))
        }
    }
    return bytes
}

extension String {
    /// How often `text` appears in the string.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let found = rest.firstRange(of: text) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
