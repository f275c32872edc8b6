import Testing

import CamNetworking

@Suite("ranges of bytes")
struct ByteRangeTests {
    @Test(
        "parts",
        arguments: [
            ("bytes=0-9", 0..<10), ("bytes=0-", 0..<100), ("bytes=99-", 99..<100), ("bytes=90-200", 90..<100),
            ("bytes=-1", 99..<100), ("bytes=-1000", 0..<100), ("Bytes=5-5", 5..<6),
            ("bytes=0-99999999999999999999", 0..<100),
        ])
    func parts(header: String, part: Range<Int>) { #expect(ByteRange(header, of: 100) == .part(part)) }

    @Test(
        "what the file does not have",
        arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(header: String) { #expect(ByteRange(header, of: 100) == .unsatisfiable) }

    @Test("an empty file has none", arguments: ["bytes=0-", "bytes=-1"])
    func empty(header: String) { #expect(ByteRange(header, of: 0) == .unsatisfiable) }

    @Test(
        "what is no single range means all of it",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=9-5", "bytes=1-2,4-5", "bytes=a-b", "bytes=+1-2",
            "bytes=1--2", "items=0-9", "bytes=0x1-2",
        ])
    func whole(header: String) { #expect(ByteRange(header, of: 100) == .whole) }
}
