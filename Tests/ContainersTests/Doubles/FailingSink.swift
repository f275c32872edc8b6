import Bitstream
import CamPlatform
@testable import Containers

/// Writes to a file, unless it should fail.
final class FailingSink: AccessUnitSink {
    private let file: FileSink
    private let failure: () -> OutputError.Kind?
    private let retraction: () -> WrittenUnits

    init(
        _ file: FileSink, failure: @escaping () -> OutputError.Kind?,
        takeRetracted: @escaping () -> WrittenUnits
    ) {
        self.file = file
        self.failure = failure
        retraction = takeRetracted
    }

    var name: String { file.name }
    var identity: FileIdentity? { file.identity }
    func write(_ unit: AccessUnit) throws(OutputError) {
        if let kind = failure() { throw OutputError(kind, output: name) }
        try file.write(unit)
    }
    func beginStream(_ description: StreamDescription) {}
    func finish() throws(OutputError) { try file.finish() }
    func takeRetracted() -> WrittenUnits { retraction() }
}
