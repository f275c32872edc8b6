import Bitstream
import CamCommandLine
import CamInspection
import CamPlatform
import CamSound
import Glibc
import Containers

/// A stream's inspection: reports on each unit, writes files, and concludes.
struct InspectionRun {
    private let options: InspectReportOptions
    private let name: String
    private var files: ConversionFiles
    private let framing: NALUnitSource.Framing
    private var source: NALUnitSource
    private var inspector: StreamInspector
    private var shape: StreamShapeInspector?
    private var output = StandardOutput()
    private var unitCount = 0
    /// Whether an unchecked access unit delimiter began the next unit's access unit.
    private var followsDelimiter = false
    private var byteCount = 0
    /// The first damage of the container, with its place; nil if there is none.
    private var damage: String?
    /// The stream's container.
    var container: Inspection.Container?

    init(
        _ options: InspectReportOptions, name: String, codec: Codec, framing: NALUnitSource.Framing,
        files: ConversionFiles, unitByteLimit: Int
    ) {
        self.options = options
        self.name = name
        self.files = files
        self.framing = framing
        source = NALUnitSource(framing, maximumUnitByteCount: unitByteLimit)
        inspector = StreamInspector(
            codec: codec, readsElements: options.json && options.nal && options.headers)
        shape = options.check ? StreamShapeInspector(codec: codec) : nil
        if options.nal { output.add(options.json ? "{\n  \"units\": [" : NALUnitRecord.lineHeading) }
    }

    /// Inspects the stream's next bytes and reports on them.
    mutating func take(_ bytes: RawSpan, isLast: Bool = false) throws(InspectSession.Failure) {
        byteCount += bytes.byteCount
        do throws(InspectSession.Failure) {
            try parse(bytes, isLast: isLast)
        } catch {
            guard case .badInput(let message) = error else { throw error }
            // Report what was understood first.
            try conclude(failure: message)
            throw .badInput("\(name): \(message)")
        }
        try output.flush()
    }

    /// Inspects a container's next picture, as Annex B.
    mutating func take(
        _ packet: ContainerReader.Packet, _ bytes: RawSpan
    ) throws(InspectSession.Failure) {
        if packet.isPicture {
            container?.note(
                time: packet.time, isHidden: packet.isHidden, isKeyframe: packet.isKeyframe,
                byteCount: bytes.byteCount)
        }
        if let problem = packet.problem {
            let place = "\(name): offset \(byteCount): \(problem)"
            if shape != nil { throw .badInput(place) }
            damage = damage ?? place
            inspector.note(problem, at: byteCount)
        }
        try take(bytes)
    }

    /// Inspects a container's next packet of sound.
    mutating func take(_ sound: SoundPacket, _ description: SoundDescription?) {
        guard var summary = container?.sound ?? description.map(InspectedSound.init) else { return }
        summary.note(at: sound.timestamp - .start, duration: sound.duration, byteCount: sound.count)
        container?.sound = summary
    }

    /// Reports what is known about a stream that can't be read further.
    mutating func breakOff(_ reason: String) throws(InspectSession.Failure) {
        try conclude(failure: "offset \(byteCount): \(reason)")
    }

    /// Ends the stream.
    mutating func finish() throws(InspectSession.Failure) {
        try take(RawSpan(), isLast: true)
        if shape != nil { return try finishCheck() }
        inspector.finish(byteCount: byteCount)
        let isEmpty = inspector.summary.accessUnitCount == 0
        let failure = isEmpty ? "offset \(byteCount): the stream ends without a picture" : nil
        try conclude(failure: failure)
        if let failure { throw .badInput("\(name): \(failure)") }
        // The report has all that can be read, but a script must not take the file for whole.
        if let damage { throw .badInput(damage) }
    }

    private mutating func parse(_ bytes: RawSpan, isLast: Bool) throws(InspectSession.Failure) {
        // Take the source out for the call, which uses the rest of the run.
        var source = source
        self.source = NALUnitSource(.annexB, maximumUnitByteCount: 1)
        defer { self.source = source }
        try source.parse(bytes, isLast: isLast) {
            (piece, nalUnit) throws(InspectSession.Failure) in
            try take(piece, nalUnit)
        }
    }

    private mutating func take(
        _ piece: NALUnitSource.Piece, _ nalUnit: RawSpan
    ) throws(InspectSession.Failure) {
        if let problem = piece.problem {
            if problem.isFatal { throw .badInput(problem.description) }
            if shape != nil { try check(piece, nalUnit, beginsAccessUnit: false) }
            return inspector.note(problem.message, at: problem.offset)
        }
        let record = inspector.inspect(nalUnit, at: piece.place)
        if shape != nil { try check(piece, nalUnit, beginsAccessUnit: record.beginsAccessUnit) }
        if options.nal { list(record) }
        try files.append(nalUnit, at: piece.place)
    }

    private mutating func list(_ record: NALUnitRecord) {
        if options.json {
            output.addPart(unitCount == 0 ? "    \(record.json)" : ",\n    \(record.json)")
        } else {
            output.add(record.line)
        }
        unitCount += 1
    }

    private mutating func check(
        _ piece: NALUnitSource.Piece, _ nalUnit: RawSpan, beginsAccessUnit: Bool
    ) throws(InspectSession.Failure) {
        // A transport stream must have them (H.222.0, 2.14.1); camrec writes none elsewhere.
        if container?.kind == .transportStream, isAccessUnitDelimiter(nalUnit) {
            followsDelimiter = true
            return
        }
        defer { followsDelimiter = false }
        do throws(StreamShapeViolation) {
            try shape?.add(piece, nalUnit, beginsAccessUnit: beginsAccessUnit || followsDelimiter)
        } catch {
            throw .violation(error.description)
        }
    }

    private func isAccessUnitDelimiter(_ nalUnit: RawSpan) -> Bool {
        NALUnitHeader(of: nalUnit, codec: inspector.codec)?.isAccessUnitDelimiter ?? false
    }

    private mutating func finishCheck() throws(InspectSession.Failure) {
        do throws(StreamShapeViolation) { try shape?.finish() } catch { throw .violation(error.description) }
        guard let shape, shape.accessUnitCount > 0 else {
            throw .badInput("\(name): offset \(byteCount): the stream ends without a picture")
        }
        output.add(
            "ok: \(Quantity.count(shape.accessUnitCount, "access unit")), \(Quantity.count(shape.idrCount, "IDR picture"))"
        )
        try output.flush()
    }

    /// Reports on the whole stream and writes the files.
    private mutating func conclude(failure: String?) throws(InspectSession.Failure) {
        guard shape == nil else { return }
        if failure != nil { inspector.finish(byteCount: byteCount) }
        let inspection = Inspection(
            name: name, container: container, framing: framing, summary: inspector.summary,
            pictures: inspector.pictures,
            failure: failure)
        if !files.usesStandardOutput { try say(inspection) }
        try files.finish(inspection)
    }

    private mutating func say(_ inspection: Inspection) throws(InspectSession.Failure) {
        if options.json { return try sayJSON(inspection) }
        if options.nal { output.add("") }
        output.add(inspection.text.printableLines)
        if options.headers, !inspection.summary.parameterSets.isEmpty {
            output.add("\n\(inspection.headerText)")
        }
        try output.flush()
    }

    /// Completes the JSON object: the units, already written, the frames, and the rest.
    private mutating func sayJSON(_ inspection: Inspection) throws(InspectSession.Failure) {
        let report = InspectionReport(inspection, hasHeaders: options.headers)
        guard let rest = JSONText.of(report), rest.hasPrefix("{") else {
            throw .badInput("\(name): a number in the stream is not one that JSON can hold")
        }
        output.addPart(options.nal ? "\n  ],\n" : "{\n")
        output.addPart("  \"frames\": [")
        for (index, picture) in inspection.pictures.enumerated() {
            output.addPart("\(index == 0 ? "\n" : ",\n")    \(picture.json)")
            if index % 4096 == 4095 { try output.flush() }
        }
        output.addPart("\n  ],\(rest.dropFirst())")
        try output.flush()
    }
}

extension String {
    /// Keeps line breaks, which are ours, and escapes the rest, which may come from a stream.
    fileprivate var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
            .joined(separator: "\n")
    }
}

extension InspectedSound {
    /// Creates a summary of no packets yet.
    init(_ description: SoundDescription) {
        self.init(
            codec: description.codec.name, rate: description.format.rate,
            channels: description.format.channels)
    }
}

// MARK: Files

/// The files that an inspection writes, created before the input is read.
struct ConversionFiles {
    /// Whether a file is standard output, which must then carry nothing else.
    let usesStandardOutput: Bool
    private let html: BufferedFile?
    private let avcc: BufferedFile?
    private let record: BufferedFile?
    private let annexB: BufferedFile?
    private let lengthSize: AVCC.LengthSize
    private var unit: [UInt8] = []

    init(
        _ options: ConversionOptions, lengthSize: AVCC.LengthSize, input: FileIdentity?
    ) throws(InspectSession.Failure) {
        // Touch no file if one of them is the input.
        if let input, let path = options.files.first(where: { FileIdentity(path: $0) == input }) {
            throw .output(OutputError(.usedTwice("the input"), output: path))
        }
        func make(_ path: String?) throws(InspectSession.Failure) -> BufferedFile? {
            guard let path else { return nil }
            do throws(OutputError) {
                return try BufferedFile(path: path, overwrite: options.overwrite)
            } catch {
                throw .output(error)
            }
        }
        html = try make(options.html)
        avcc = try make(options.avcc)
        record = try make(options.avccRecord)
        annexB = try make(options.annexb)
        let identities = [html, avcc, record, annexB].compactMap { $0?.identity }
        if Set(identities).count < identities.count {
            throw .output(OutputError(.usedTwice("another of the outputs"), output: options.files[0]))
        }
        self.lengthSize = lengthSize
        usesStandardOutput = options.files.contains(FileSink.standardOutput)
    }

    /// Adds a NAL unit, without its start code.
    mutating func append(_ nalUnit: RawSpan, at place: NALUnitPlace) throws(InspectSession.Failure) {
        unit.removeAll(keepingCapacity: true)
        if let avcc {
            do throws(AVCC.Writer.Unrepresentable) {
                try AVCC.Writer(lengthSize: lengthSize).append(nalUnit, to: &unit)
            } catch {
                throw .unconvertible("offset \(place.offset): \(error)")
            }
            try Self.write(unit, to: avcc)
        }
        if let annexB {
            do throws(AnnexBWriter.Unrepresentable) {
                try AnnexBWriter().append(nalUnit, to: &unit)
            } catch {
                throw .unconvertible("offset \(place.offset): \(error)")
            }
            try Self.write(unit, to: annexB)
        }
    }

    /// Writes the final data and closes the files.
    func finish(_ inspection: Inspection) throws(InspectSession.Failure) {
        if let html { try Self.write(Array(InspectionPage(inspection).html.utf8), to: html) }
        if let record { try Self.write(configurationRecord(inspection.summary), to: record) }
        for file in [html, avcc, record, annexB] {
            do throws(OutputError) { try file?.finish() } catch { throw .output(error) }
        }
    }

    private static func write(_ bytes: [UInt8], to file: BufferedFile) throws(InspectSession.Failure) {
        do throws(OutputError) { try file.write(bytes) } catch { throw .output(error) }
    }

    /// Returns the content of the stream's avcC or hvcC box.
    private func configurationRecord(_ summary: StreamSummary) throws(InspectSession.Failure) -> [UInt8] {
        if let change = summary.parameterSetCounts.first(where: { $0.changes > 0 }) {
            throw .unconvertible(
                "no decoder configuration record can be made: the stream changes its \(change.kind)")
        }
        func units(_ kind: String) -> [[UInt8]] {
            summary.parameterSets.filter { $0.kind == kind }.map(\.nalUnit)
        }
        do throws(ConfigurationRecordError) {
            switch summary.codec {
            case .h264:
                return try AVCDecoderConfigurationRecord(
                    sequenceParameterSets: units("SPS"), pictureParameterSets: units("PPS"),
                    sequenceParameterSetExtensions: units("SPS extension"), lengthSize: lengthSize
                ).bytes
            case .hevc:
                return try HEVCDecoderConfigurationRecord(
                    videoParameterSets: units("VPS"), sequenceParameterSets: units("SPS"),
                    pictureParameterSets: units("PPS"), isComplete: false, lengthSize: lengthSize
                ).bytes
            }
        } catch {
            throw .unconvertible("no decoder configuration record can be made: \(error)")
        }
    }
}

// MARK: Standard output

/// Buffered standard output, flushed by its user.
struct StandardOutput {
    private var text = ""

    /// Adds a line.
    mutating func add(_ line: String) { text += line + "\n" }

    /// Adds text without a newline.
    mutating func addPart(_ part: String) { text += part }

    /// Writes the buffered text.
    mutating func flush() throws(InspectSession.Failure) {
        guard !text.isEmpty else { return }
        defer { text.removeAll(keepingCapacity: true) }
        guard let code = DescriptorWriter.write(text, to: STDOUT_FILENO) else { return }
        // A reader that needs only the first lines, such as head, is not a failure.
        if code == EPIPE { throw .unread }
        throw .output(OutputError(writeFailed: code, output: "standard output"))
    }
}
