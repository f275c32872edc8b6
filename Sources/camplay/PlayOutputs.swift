import Bitstream
import CamConversion
import CamPictures
import CamPlatform
import Decoder
import Containers

/// Writes the stream and its pictures to files.
final class PlayOutputs {
    private let saver: StreamSaver?
    private let pictures: PictureFile?
    private let snapshot: OutputFile?
    private let layout: PictureLayout
    private let scale: ScaledSize?
    /// The converter for pictures of the current size.
    private var converter: (converter: PictureConverter, width: Int, height: Int)?
    private let warn: (String) -> Void
    private var hasToldScaling = false
    private var hasToldForm = false
    private var last: DecodedPicture?

    /// Opens the files.
    /// - Parameter warn: called with each warning.
    init(
        _ options: WritingOptions, cancellation: CancellationFlag, warn: @escaping (String) -> Void
    ) throws(OutputError) {
        let overwrite = options.overwrite
        saver =
            if let path = options.save {
                try StreamSaver(
                    path: path, overwrite: overwrite, cancellation: cancellation, warn: warn)
            } else { nil }
        pictures =
            if let path = options.output {
                try PictureFile(
                    path: path, layout: options.pixelFormat, overwrite: overwrite, cancellation: cancellation)
            } else { nil }
        snapshot =
            if let path = options.snapshot {
                try OutputFile(path: path, overwrite: overwrite, cancellation: cancellation)
            } else { nil }
        (layout, scale, self.warn) = (options.pixelFormat, options.scale, warn)
    }

    /// The files that were opened.
    var files: [OutputFile] { [saver?.file, pictures?.file, snapshot].compactMap { $0 } }

    func write(_ unit: borrowing ReceivedAccessUnit) throws(PlayError) {
        do throws(OutputError) { try saver?.write(unit) } catch { throw .output(error) }
    }

    /// Whether every picture is wanted, however late.
    var wantPictures: Bool { pictures != nil || snapshot != nil }

    /// Records that the stream is interrupted here.
    func interrupt() { saver?.interrupt() }

    /// - Parameter rate: the stream's rate.
    func write(_ picture: borrowing DecodedPicture, rate: FrameRate?) throws(PlayError) {
        guard wantPictures else { return }
        if let pictures, !layout.isRGB, let form = picture.finerForm, !hasToldForm {
            hasToldForm = true
            warn(
                "\(pictures.file.name): the pictures are \(form) and are written as \(layout.rawValue); use ffmpeg to keep them "
                    + "as they are")
        }
        let converted = try convert(picture)
        do throws(OutputError) {
            if let pictures {
                if let former = try pictures.makePlace(for: converted) {
                    warn(
                        "\(former) is complete: the pictures are \(converted.width)x\(converted.height) from here on, in "
                            + pictures.file.name)
                }
                try pictures.write(converted, rate: rate)
            }
        } catch { throw .output(error) }
        if snapshot != nil { last = consume converted }
    }

    private func convert(_ picture: borrowing DecodedPicture) throws(PlayError) -> DecodedPicture {
        let (width, height) = size(of: picture)
        if converter?.width != width || converter?.height != height {
            converter = (PictureConverter(to: layout, size: (width, height)), width, height)
        }
        do throws(DecoderError) {
            guard let converter else { return try picture.share() }
            return try converter.converter.convert(picture.share())
        } catch { throw .decoder(error) }
    }

    /// The picture's own size, unless one is requested or the file's first picture determines it.
    private func size(of picture: borrowing DecodedPicture) -> (width: Int, height: Int) {
        if let scale { return (scale.width, scale.height) }
        let own = (width: picture.width, height: picture.height)
        guard let pictures, !pictures.continues, let converter, (converter.width, converter.height) != own
        else {
            return own
        }
        if !hasToldScaling {
            warn(
                "\(pictures.file.name): pictures of \(own.width)x\(own.height) are scaled to the first one's size"
            )
            hasToldScaling = true
        }
        return (converter.width, converter.height)
    }

    /// Writes the remaining data and completes the files.
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
        do throws(DecoderError) { image = try picture.png() } catch { throw .decoder(error) }
        do throws(OutputError) {
            try snapshot.write(image)
            snapshot.keep()
        } catch { throw .output(error) }
    }
}

// MARK: Saved stream

/// Saves the received stream, byte for byte, from the first entry point of each connection on.
///
/// A file has one codec, that of its first connection.
final class StreamSaver {
    let file: OutputFile
    private var hasBegun = false
    private var codec: Codec?
    private var hasToldOther = false
    private let warn: (String) -> Void

    init(
        path: String, overwrite: Bool, cancellation: CancellationFlag, warn: @escaping (String) -> Void
    ) throws(OutputError) {
        file = try OutputFile(path: path, overwrite: overwrite, cancellation: cancellation)
        self.warn = warn
    }

    func write(_ unit: borrowing ReceivedAccessUnit) throws(OutputError) {
        if unit.role.allowsEntry, unit.parameterSets.isComplete {
            hasBegun = belongs(unit.parameterSets.codec)
        }
        guard hasBegun else { return }
        try unit.withUnsafeBytes { (bytes) throws(OutputError) in try file.writeWhole(bytes) }
    }

    /// Records an interruption of the stream: access units up to the next entry point are left out.
    func interrupt() { hasBegun = false }

    /// Ends the file.
    func finish() throws(OutputError) { try file.close() }

    /// Whether a stream of this codec belongs in the file.
    private func belongs(_ other: Codec) -> Bool {
        guard let codec else {
            if let named = Codec(fileName: file.name), named != other {
                warn("\(file.name) receives \(other), which does not match its name")
            }
            codec = other
            return true
        }
        if codec != other, !hasToldOther {
            warn("\(file.name): the stream is now \(other), which is not saved: the file holds \(codec)")
            hasToldOther = true
        }
        return codec == other
    }
}
