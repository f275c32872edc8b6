import Bitstream
import FuzzSupport
import CamPlatform

/// Shapes a stream cut into packets at access unit boundaries: the result has the guaranteed shape.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let codec = Codec.allCases[input.choice(0...1)]
    let stream = input.rest
    let pool = AccessUnitPool(codec: codec, limit: 2)
    var shaper = StreamShaper(pool: pool)
    var checker = StreamShapeChecker(codec: codec)
    for (number, packet) in packets(of: stream, codec).enumerated() {
        let shaped: AccessUnit?
        do {
            shaped = try shaper.shape(
                packet.span.bytes, frameNumber: number, sequence: UInt32(number), timestamp: .start)
        } catch {
            promise(!error.description.isEmpty, "an error has words")
            shaper.expectIDR()
            checker = StreamShapeChecker(codec: codec)
            continue
        }
        guard let shaped else { continue }
        do {
            try checker.check(shaped)
        } catch {
            // Damage within slices and parameter sets is passed on unchanged, and so are open GOPs, which a
            // container may have: the checker must find them.
            promise(error.isDamageOfTheEncoder, "the shape is kept: \(error)")
            shaper.expectIDR()
            checker = StreamShapeChecker(codec: codec)
        }
    }
    return 0
}

/// The stream's access units, in Annex B form.
private func packets(of stream: [UInt8], _ codec: Codec) -> [[UInt8]] {
    var detector = AccessUnitDetector(codec: codec)
    var parser = AnnexBParser(maximumUnitByteCount: 1 << 20)
    var packets: [[UInt8]] = []
    parser.parse(stream.span.bytes, isLast: true) { result, nalUnit in
        guard (try? result.get()) != nil else { return }
        if detector.next(nalUnit) == .begins { packets.append([]) }
        packets[packets.count - 1] += [0, 0, 1]
        nalUnit.withUnsafeBytes { packets[packets.count - 1] += $0 }
    }
    return packets
}

extension StreamShapeViolation {
    /// Whether the violation lies in units that the shaper passes on unchanged.
    fileprivate var isDamageOfTheEncoder: Bool {
        switch rule {
        case .referenceIndication, .temporalID, .syntax, .unknownParameterSet, .mixedSlices, .pictureBoundary,
            .startsWithoutIDR, .openRandomAccess:
            true
        default: false
        }
    }
}
