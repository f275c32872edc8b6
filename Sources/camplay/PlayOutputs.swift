import Bitstream
import Decoder
import Output
import Threading

/// What is written of the stream and its pictures.
final class PlayOutputs {
    private let saver: StreamSaver?
    private let pictures: PictureFile?
    private let snapshot: OutputFile?
    private let layout: PictureLayout
    private let scale: ScaledSize?
    /// Made with the first picture: all have that one's size.
    private var converter: PictureConverter?
    private var last: DecodedPicture?

    /// Opens the files.
    /// - Parameter warn: told what somebody should hear of.
    init(
        _ options: WritingOptions, interruption: Interruption, warn: @escaping (String) -> Void
    ) throws(OutputError) {
        let overwrite = options.overwrite
        saver =
            if let path = options.save {
                try StreamSaver(
                    path: path, overwrite: overwrite, interruption: interruption, warn: warn)
            } else { nil }
        pictures =
            if let path = options.output {
                try PictureFile(
                    path: path, layout: options.pixelFormat, overwrite: overwrite, interruption: interruption)
            } else { nil }
        snapshot =
            if let path = options.snapshot {
                try OutputFile(path: path, overwrite: overwrite, interruption: interruption)
            } else { nil }
        (layout, scale) = (options.pixelFormat, options.scale)
    }

    /// Those that were opened.
    var files: [OutputFile] { [saver?.file, pictures?.file, snapshot].compactMap { $0 } }

    func write(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
        do throws(OutputError) { try saver?.write(unit) } catch { throw .output(error) }
    }

    /// Whether every picture is wanted, however late.
    var wantPictures: Bool { pictures != nil || snapshot != nil }

    /// The stream breaks here.
    func interrupt() { saver?.interrupt() }

    /// - Parameter rate: what the stream says.
    func write(_ picture: borrowing DecodedPicture, rate: NominalFrameRate?) throws(PlayError) {
        guard wantPictures else { return }
        let converted = try convert(picture)
        do throws(OutputError) { try pictures?.write(converted, rate: rate) } catch { throw .output(error) }
        if snapshot != nil { last = consume converted }
    }

    private func convert(_ picture: borrowing DecodedPicture) throws(PlayError) -> DecodedPicture {
        let converter =
            converter
            ?? PictureConverter(
                to: layout, size: (scale?.width ?? picture.width, scale?.height ?? picture.height))
        self.converter = converter
        do throws(DecoderError) {
            return try converter.convert(picture.share())
        } catch { throw .decoder(error) }
    }

    /// Writes what comes last, and ends the files.
    func finish() throws(PlayError) {
        try writeSnapshot()
        do throws(OutputError) {
            try saver?.finish()
            try pictures?.finish()
            try snapshot?.close()
        } catch { throw .output(error) }
    }

    private func writeSnapshot() throws(PlayError) {
        guard let snapshot, let picture = last.take() else { return }
        let image: [UInt8]
        do throws(DecoderError) { image = try PNGImage.encode(picture) } catch { throw .decoder(error) }
        do throws(OutputError) {
            try snapshot.write(image)
            snapshot.keep()
        } catch { throw .output(error) }
    }
}
