import Bitstream
import Diagnostics
import Glibc
import Output
import Terminal

/// One run of `camrec inspect`.
struct InspectSession {
    let command: InspectCommand
    let console: Console
    let signals: SignalWatch

    /// The largest NAL unit that is taken: bounds the memory of a run.
    private static let unitByteLimit = 64 << 20
    private static let chunkByteCount = 256 << 10

    /// Why a run ends early.
    enum Failure: Error {
        case input(StreamInput.Failure)
        case output(OutputError)
        /// The stream is not one, or breaks off.
        case badInput(String)
        /// The stream cannot be written in the form that was asked for: nothing is left of the files.
        case unconvertible(String)
        /// `--check` found something.
        case offence(StreamShapeViolation)
        /// Whoever reads standard output has seen enough.
        case unread
    }

    func run() -> ExitStatus {
        do throws(Failure) {
            try inspect()
            return .done
        } catch {
            switch error {
            case .unread: return .done
            case .input(let failure): return fail(failure.message, failure.status)
            case .output(let failure):
                return fail(failure.description, failure.isCreation ? .cannotCreate : .inputOutput)
            case .unconvertible(let message): return fail("\(command.input): \(message)", .badInput)
            case .badInput(let message): return fail(message, .badInput)
            case .offence(let violation): return fail("\(command.input): \(violation)", .offence)
            }
        }
    }

    private func fail(_ message: String, _ status: ExitStatus) -> ExitStatus {
        console.fail(message)
        return status
    }

    private func inspect() throws(Failure) {
        let input = try open()
        let files = try ConversionFiles(
            command.conversion, lengthSize: lengthSize, input: input.identity)
        var head = StreamHead(command.reading, lengthSize: lengthSize)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { buffer.deallocate() }
        let form = try head.recognize(input, buffer)
        var run = InspectionRun(
            command.report, name: input.name, form: form, files: files, unitByteLimit: Self.unitByteLimit)
        try run.take(head.bytes.span.bytes)
        while !head.isWhole {
            let count = try read(input, buffer, for: &run)
            if count == 0 { break }
            try run.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
        }
        try run.finish()
    }

    private var lengthSize: AVCC.LengthSize { AVCC.LengthSize(rawValue: command.reading.lengthSize) ?? .four }

    private func open() throws(Failure) -> StreamInput {
        do throws(StreamInput.Failure) {
            return try StreamInput(path: command.input, interruption: signals.interruption)
        } catch {
            throw .input(error)
        }
    }

    private func read(
        _ input: StreamInput, _ buffer: UnsafeMutableRawBufferPointer, for run: inout InspectionRun
    ) throws(Failure) -> Int {
        do throws(StreamInput.Failure) {
            return try input.read(into: buffer)
        } catch {
            // What was understood comes first.
            try run.breakOff(error.message)
            throw .input(error)
        }
    }
}
