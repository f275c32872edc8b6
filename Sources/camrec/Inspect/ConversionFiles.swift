import Bitstream
import CamPlatform
import CamInspection
import Output

/// The files that an inspection writes, created before the input is read.
struct ConversionFiles {
    /// Whether one of them is standard output, which must then carry nothing else.
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
