import Bitstream
import Decoder
import Output
import Threading

/// Decoded pictures one after the other: YUV4MPEG2, or samples alone.
final class PictureFile {
    /// What the file is.
    enum Form {
        case y4m, samples

        /// By the name's ending; nil for any other than .y4m and .yuv.
        init?(path: String) {
            if path.lowercased().hasSuffix(".y4m") {
                self = .y4m
            } else if path.lowercased().hasSuffix(".yuv") {
                self = .samples
            } else {
                return nil
            }
        }
    }

    let file: OutputFile
    private let form: Form
    private var hasHeader = false
    private var packed: [UInt8] = []

    /// Opens the file, or standard output for `-`, which is YUV4MPEG2 where the layout allows.
    init(
        path: String, layout: PictureLayout, overwrite: Bool, interruption: Interruption
    ) throws(OutputError) {
        file = try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
        form = Form(path: path) ?? (layout == .yuv420p ? .y4m : .samples)
    }

    /// Writes a picture, of the same size as all others.
    /// - Parameter rate: what the stream says; YUV4MPEG2 needs a rate, and 25 is what is taken for none.
    func write(_ picture: borrowing DecodedPicture, rate: NominalFrameRate?) throws(OutputError) {
        do throws(OutputError) {
            if form == .y4m {
                if !hasHeader { try file.write(Array(header(of: picture, rate).utf8)) }
                hasHeader = true
                try file.write(Array("FRAME\n".utf8))
            }
            try writeSamples(of: picture)
        } catch {
            file.abandon()
            throw error
        }
        file.keep()
    }

    /// Ends the file.
    func finish() throws(OutputError) { try file.close() }

    private func header(of picture: borrowing DecodedPicture, _ rate: NominalFrameRate?) -> String {
        let (frames, seconds) = rate.map { ($0.numerator, $0.denominator) } ?? (25, 1)
        let aspect = picture.sampleAspectRatio ?? (0, 0)
        let range = picture.color.isFullRange ? "FULL" : "LIMITED"
        // H.264 and H.265 site chroma as MPEG-2 does.
        return "YUV4MPEG2 W\(picture.width) H\(picture.height) F\(frames):\(seconds) Ip "
            + "A\(aspect.0):\(aspect.1) C420mpeg2 XCOLORRANGE=\(range)\n"
    }

    /// The rows without what lies between them, in one piece: a call a row would cost more than the copy.
    private func writeSamples(of picture: borrowing DecodedPicture) throws(OutputError) {
        guard let layout = picture.layout else { return }
        packed.removeAll(keepingCapacity: true)
        for plane in 0..<layout.planeCount {
            let size = layout.planeSize(plane, width: picture.width, height: picture.height)
            picture.withPlane(plane) { rows, stride in
                for row in 0..<size.rowCount {
                    let start = row * stride
                    packed.append(contentsOf: rows[start..<start + size.rowByteCount])
                }
            }
        }
        try file.write(packed)
    }
}
