import Bitstream
import Decoder
import Foundation

/// Decodes a raw H.264 or H.265 stream from standard input, and saves every hundredth picture.
///
///     nc -l 5000 | swift run Receiver h264 pictures/
@main struct Receiver {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let codec = Codec(rawValue: arguments[1]) else {
            fatalError("usage: Receiver h264|hevc FOLDER")
        }
        let folder = URL(filePath: arguments[2], directoryHint: .isDirectory)
        let assembler = AccessUnitAssembler(codec: codec)
        let session = DecompressionSession(DecoderConfiguration(codec: codec))
        var count = 0

        func save(_ picture: consuming DecodedPicture) throws {
            if count.isMultiple(of: 100) {
                try Data(picture.png()).write(to: folder.appending(path: "\(count).png"))
            }
            count += 1
        }

        while let bytes = try FileHandle.standardInput.read(upToCount: 65536), !bytes.isEmpty {
            try bytes.withUnsafeBytes { chunk in
                try assembler.add(chunk.bytes) { unit in try session.decode(unit, save) }
            }
        }
        try assembler.finish { unit in try session.decode(unit, save) }
        try session.flush(save)
        print("\(count) pictures, \(session.counters.losses) losses")
    }
}
