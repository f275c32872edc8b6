import Bitstream
import Glibc
import CamInspection
import Output
import CamCommandLine

/// One run of `camrec inspect`.
struct InspectSession {
    let command: InspectCommand
    let console: Console
    let signals: SignalWatch

    /// The largest accepted NAL unit, in bytes, which bounds memory use.
    private static let unitByteLimit = 64 << 20
    private static let chunkByteCount = 256 << 10

    /// Why a run ends early.
    enum Failure: Error {
        case input(StreamInput.Failure)
        case output(OutputError)
        /// The input is not a stream, or ends in the middle of it.
        case badInput(String)
        /// The stream cannot be written in the requested form; the files are removed.
        case unconvertible(String)
        /// `--check` found a problem.
        case violation(String)
        /// Standard output's reader has closed it.
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
            case .violation(let message): return fail("\(command.input): \(message)", .violation)
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
        let record = try command.reading.record.map { (path) throws(Failure) in try readRecord(path) }
        var head = StreamHead(command.reading, lengthSize: record?.lengthSize ?? lengthSize, record: record)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkByteCount, alignment: 16)
        defer { buffer.deallocate() }
        switch try head.recognize(input, buffer) {
        case .container: try inspectContainer(input, files)
        case .raw(let codec, let framing):
            var run = InspectionRun(
                command.report, name: input.name, codec: codec, framing: framing, files: files,
                unitByteLimit: Self.unitByteLimit)
            try run.take(head.bytes.span.bytes)
            while !head.isWhole {
                let count = try read(input, buffer, for: &run)
                if count == 0 { break }
                try run.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
            }
            try run.finish()
        }
    }

    private func inspectContainer(_ input: StreamInput, _ files: ConversionFiles) throws(Failure) {
        guard input.isFile else {
            throw .badInput("\(input.name): a container is read from a file, not a pipe; save it first")
        }
        let reader: ContainerReader
        do throws(InputError) {
            reader = try ContainerReader(
                descriptor: input.descriptor, name: input.name, takesSound: true,
                interruption: signals.interruption)
        } catch { throw Failure(error) }
        var run = InspectionRun(
            command.report, name: input.name, codec: reader.codec, framing: .annexB, files: files,
            unitByteLimit: Self.unitByteLimit)
        var container = Inspection.Container(reader.container, others: reader.leftOut)
        let metadata = reader.metadata
        (container.start, container.camera) = (metadata.start, metadata.camera)
        container.program = metadata.program
        container.sound = reader.sound.map(InspectedSound.init)
        run.container = container
        while let packet = try next(of: reader, for: &run) {
            if let sound = packet.sound {
                run.take(sound, reader.sound)
            } else {
                let picture = reader.bytes
                try run.take(packet, picture.span.bytes)
            }
        }
        try run.finish()
    }

    /// - Returns: nil at the end, or if the user interrupts.
    private func next(
        of reader: ContainerReader, for run: inout InspectionRun
    ) throws(Failure) -> ContainerReader.Packet? {
        do throws(InputError) {
            return try reader.next()
        } catch {
            guard error.kind != .interrupted else { return nil }
            // What was understood comes first.
            try run.breakOff(error.problem)
            throw Failure(error)
        }
    }

    private func readRecord(_ path: String) throws(Failure) -> DecoderConfigurationRecord {
        do throws(InputError) { return try DecoderConfigurationRecord(path: path) } catch {
            throw Failure(error)
        }
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

extension InspectSession.Failure {
    fileprivate init(_ error: InputError) {
        self = .input(StreamInput.Failure(message: error.description, status: ExitStatus(error)))
    }
}
