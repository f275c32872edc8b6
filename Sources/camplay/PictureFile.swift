import Bitstream
import Decoder
import CamPlatform
import CamPictures
import CamStorage
import Containers

/// Writes decoded pictures one after another: as YUV4MPEG2, or as raw samples.
///
/// All pictures of a file have the same size. If the stream's size changes, another file begins, with a
/// counter in its name.
final class PictureFile {
    /// The file's format.
    enum Form {
        case y4m, samples

        /// From the name's extension; nil for any other than .y4m and .yuv.
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

    private(set) var file: OutputFile
    private let form: Form
    private var hasHeader = false
    private var names: FileNamePattern
    private let overwrite: Bool
    private let cancellation: CancellationFlag
    private var shape: Shape?

    /// The properties that all pictures of a file share.
    private struct Shape: Equatable {
        let width, height: Int
        /// The rest of the YUV4MPEG2 header; nil for raw samples.
        let header: [Int]?
    }
    private var packed: [UInt8] = []

    /// Opens the file, or standard output for `-`, which is YUV4MPEG2 if the layout allows.
    init(
        path: String, layout: PictureLayout, overwrite: Bool, cancellation: CancellationFlag
    ) throws(OutputError) {
        file = try OutputFile(path: path, overwrite: overwrite, cancellation: cancellation)
        form = Form(path: path) ?? (layout == .yuv420p ? .y4m : .samples)
        names = FileNamePattern(path, expandsTime: false)
        (self.overwrite, self.cancellation) = (overwrite, cancellation)
        continues = path != FileSink.standardOutput && FileIdentity.isFile(path) == true
    }

    /// Whether another file can follow this one: not if it is a pipe or a device.
    let continues: Bool

    /// Starts another file if a picture does not fit this one.
    /// - Returns: the name of the file that has ended; nil if none has.
    func makePlace(for picture: borrowing DecodedPicture) throws(OutputError) -> String? {
        let aspect = picture.sampleAspectRatio ?? (0, 0)
        let next = Shape(
            width: picture.width, height: picture.height,
            header: form == .y4m ? [aspect.0, aspect.1, picture.color.isFullRange ? 1 : 0] : nil)
        guard let shape, shape != next, continues else {
            self.shape = next
            return nil
        }
        try file.close()
        let former = file.name
        file = try OutputFile(path: names.next(at: .now), overwrite: overwrite, cancellation: cancellation)
        (self.shape, hasHeader) = (next, false)
        return former
    }

    /// Writes a picture, of the same size as the others in the file.
    /// - Parameter rate: the stream's rate; YUV4MPEG2 needs one, and 25 is used if there is none.
    func write(_ picture: borrowing DecodedPicture, rate: FrameRate?) throws(OutputError) {
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

    private func header(of picture: borrowing DecodedPicture, _ rate: FrameRate?) -> String {
        let (frames, seconds) = rate.map { ($0.numerator, $0.denominator) } ?? (25, 1)
        let aspect = picture.sampleAspectRatio ?? (0, 0)
        let range = picture.color.isFullRange ? "FULL" : "LIMITED"
        // H.264 and H.265 site chroma like MPEG-2.
        return "YUV4MPEG2 W\(picture.width) H\(picture.height) F\(frames):\(seconds) Ip "
            + "A\(aspect.0):\(aspect.1) C420mpeg2 XCOLORRANGE=\(range)\n"
    }

    /// Writes the rows without padding, in one piece: a call per row would cost more than the copy.
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
