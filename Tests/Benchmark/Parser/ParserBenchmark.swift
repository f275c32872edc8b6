import Bitstream
import Glibc
import Peers

/// Measures the Annex B parser compared with searches of the C library and with libavcodec's parser, taking
/// turns in one run over the same bytes, and prints a table in Markdown: medians in GB per second of CPU, and
/// multiples of camrec's.
///
/// usage: ParserBenchmark FILE BYTES       the stream, repeated to about that size
@main
struct ParserBenchmark {
    /// The chunk size of a file reader.
    static let chunkByteCount = 64 << 10
    static let maximumUnitByteCount = 8 << 20
    static let rounds = 15
    /// libavcodec reads this far past the end.
    static let padding = 64

    enum Failure: Error {
        case usage
        case countsDiffer([Int])
    }

    static func main() throws {
        guard CommandLine.arguments.count == 3, let size = Int(CommandLine.arguments[2]),
            let recording = contents(of: CommandLine.arguments[1]), !recording.isEmpty
        else { throw Failure.usage }
        let repetitions = max(1, size / recording.count)
        var stream: [UInt8] = []
        stream.reserveCapacity(repetitions * recording.count + padding)
        for _ in 0..<repetitions { stream += recording }
        stream += [UInt8](repeating: 0, count: padding)
        // A pass without a hit, the fastest that memchr can be: one byte value of the stream is replaced by
        // another.
        let rare: UInt8 = 0xA7
        let withoutRare = stream.map { $0 == rare ? rare - 1 : $0 }
        try stream.withUnsafeBytes { bytes in
            try withoutRare.withUnsafeBytes { bytesWithoutRare in
                try compare(
                    UnsafeRawBufferPointer(rebasing: bytes.dropLast(padding)),
                    UnsafeRawBufferPointer(rebasing: bytesWithoutRare.dropLast(padding)), rare)
            }
        }
    }

    /// Goes over the stream once, and returns its count.
    typealias Contender = (name: String, expected: Count, work: () -> Int)
    enum Count { case units, accessUnits, none }

    private static func compare(
        _ stream: UnsafeRawBufferPointer, _ withoutRare: UnsafeRawBufferPointer, _ rare: UInt8
    ) throws {
        let start = stream.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let startWithoutRare = withoutRare.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let count = stream.count
        try printTable(
            count,
            [
                ("camrec, NAL units", .units, { countUnits(stream, chunkByteCount) }),
                ("camrec, NAL units, all in one chunk", .units, { countUnits(stream, count) }),
                ("camrec, access units", .accessUnits, { countAccessUnits(stream) }),
                ("memchr, no hit", .none, { peer_memchr_count(startWithoutRare, count, rare) }),
                (
                    "memchr for each 01, zeros ahead checked", .units,
                    { peer_memchr_start_codes(start, count) }
                ),
                ("memmem for 00 00 01", .units, { peer_memmem_start_codes(start, count) }),
                (
                    "libavcodec's parser, access units", .accessUnits,
                    { peer_libavcodec_access_units(start, count, chunkByteCount) }
                ),
            ])
    }

    private static func countUnits(_ stream: UnsafeRawBufferPointer, _ chunkByteCount: Int) -> Int {
        var count = 0
        parse(stream, chunkByteCount) { _ in count += 1 }
        return count
    }

    private static func countAccessUnits(_ stream: UnsafeRawBufferPointer) -> Int {
        var detector = AccessUnitDetector(codec: .h264)
        var count = 0
        parse(stream, chunkByteCount) { if detector.next($0) == .begins { count += 1 } }
        return count
    }

    private static func parse(
        _ stream: UnsafeRawBufferPointer, _ chunkByteCount: Int, _ body: (RawSpan) -> Void
    ) {
        var parser = AnnexBParser(maximumUnitByteCount: maximumUnitByteCount)
        func take(_ result: Result<AnnexBParser.Unit, AnnexBError>, _ nalUnit: RawSpan) {
            if case .success = result { body(nalUnit) }
        }
        for position in stride(from: 0, to: stream.count, by: chunkByteCount) {
            let end = min(position + chunkByteCount, stream.count)
            parser.parse(UnsafeRawBufferPointer(rebasing: stream[position..<end]).bytes, take)
        }
        parser.finish(take)
    }

    // MARK: - Measuring

    private static func printTable(_ byteCount: Int, _ contenders: [Contender]) throws {
        var times = [[Double]](repeating: [], count: contenders.count)
        var counts = [Int](repeating: 0, count: contenders.count)
        for round in 0...rounds {
            for (index, contender) in contenders.enumerated() {
                let start = now()
                counts[index] = contender.work()
                if round > 0 { times[index].append(now() - start) }
            }
        }
        for kind in [Count.units, .accessUnits] {
            let found = contenders.indices.filter { contenders[$0].expected == kind }.map { counts[$0] }
            guard let first = found.first, first > 0, found.allSatisfy({ $0 == first }) else {
                throw Failure.countsDiffer(found)
            }
        }
        let units = counts[0], pictures = counts[2]
        print("\n\(byteCount >> 20) MiB, \(units) NAL units in \(pictures) access units, 64 KiB at a time.\n")
        print("| | median, GB/s | times the first |\n|---|---:|---:|")
        let rates = times.map { Double(byteCount) / $0.sorted()[$0.count / 2] / 1e9 }
        for (contender, rate) in zip(contenders, rates) {
            print("| \(contender.name) | \(decimal(rate)) | \(decimal(rate / rates[0])) |")
        }
    }

    private static func decimal(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
    }

    /// Seconds of CPU time of this process.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func contents(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while case let count = fread(&block, 1, block.count, file), count > 0 { bytes += block[..<count] }
        return bytes
    }
}
