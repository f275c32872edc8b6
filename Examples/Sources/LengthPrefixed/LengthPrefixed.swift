import Bitstream
import Foundation

/// Converts a raw H.264 stream to the form of MP4, length-prefixed NAL units with an `avcC` record, and back.
///
///     swift run LengthPrefixed in.h264 avcc config back.h264
@main struct LengthPrefixed {
    static func main() throws {
        let names = Array(CommandLine.arguments.dropFirst())
        guard names.count == 4 else { fatalError("usage: LengthPrefixed INPUT AVCC CONFIG OUTPUT") }
        let input = try [UInt8](Data(contentsOf: URL(filePath: names[0])))

        var (samples, sets) = ([UInt8](), ParameterSets(codec: .h264))
        let writer = AVCC.Writer(lengthSize: .four)
        var parser = AnnexBParser(maximumUnitByteCount: 8 << 20)
        try parser.parse(input.span.bytes, isLast: true) { result, nalUnit in
            _ = try result.get()
            if NALUnitHeader(of: nalUnit, codec: .h264)?.isParameterSet == true { try sets.insert(nalUnit) }
            try writer.append(nalUnit, to: &samples)
        }
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: sets.sequence.map(\.nalUnit),
            pictureParameterSets: sets.picture.map(\.nalUnit))
        try Data(samples).write(to: URL(filePath: names[1]))
        try Data(record.bytes).write(to: URL(filePath: names[2]))

        var output: [UInt8] = []
        let known = try AVCDecoderConfigurationRecord(record.bytes.span.bytes)
        var reader = AVCC.Reader(lengthSize: known.lengthSize, maximumUnitByteCount: 8 << 20)
        try reader.read(samples.span.bytes, isLast: true) { result, nalUnit in
            _ = try result.get()
            output += [0, 0, 0, 1]
            nalUnit.withUnsafeBytes { output.append(contentsOf: $0) }
        }
        try Data(output).write(to: URL(filePath: names[3]))
    }
}
