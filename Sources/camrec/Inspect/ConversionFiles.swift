import Bitstream
import Diagnostics
import Output

/// The files that an inspection writes, made before anything is read.
struct ConversionFiles {
    /// Whether one of them is standard output, where nothing else is to be then.
    let usesStandardOutput: Bool
    private let html: OutputFile?
    private let avcc: OutputFile?
    private let record: OutputFile?
    private let annexB: OutputFile?
    private let lengthSize: AVCC.LengthSize

    init(
        _ options: ConversionOptions, lengthSize: AVCC.LengthSize, input: FileIdentity?
    ) throws(InspectSession.Failure) {
        // No file is touched where one of them is the input.
        if let input, let path = options.files.first(where: { FileIdentity(path: $0) == input }) {
            throw .output(OutputError(.usedTwice("the input"), output: path))
        }
        func make(_ path: String?) throws(InspectSession.Failure) -> OutputFile? {
            guard let path else { return nil }
            do throws(OutputError) {
                return try OutputFile(path: path, overwrite: options.overwrite)
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

    /// Takes over a NAL unit, given without start code.
    func append(_ nalUnit: RawSpan, at place: NALUnitPlace) throws(InspectSession.Failure) {
        do throws(OutputError) {
            if let avcc {
                let failure = try avcc.append { bytes in
                    AVCC.Writer(lengthSize: lengthSize).problem(appending: nalUnit, to: &bytes)
                }
                if let failure { throw Refusal(failure) }
            }
        } catch {}
    }
}
