import Bitstream
import CamPlatform
@testable import Containers

/// Writes to a file, unless it should fail.
final class FailingSink: AccessUnitSink {
    private let file: FileSink
    private let failure: () -> OutputError.Kind?
    private let retraction: () -> WrittenUnits
    private let holdsBack: () -> Bool

    /// - Parameter holdsBack: whether it takes access units without writing them, as containers do with a piece.
    init(
        _ file: FileSink, failure: @escaping () -> OutputError.Kind?, holdsBack: @escaping () -> Bool,
        takeRetracted: @escaping () -> WrittenUnits
    ) {
        self.file = file
        self.failure = failure
        retraction = takeRetracted
        self.holdsBack = holdsBack
    }

    var name: String { file.name }
    var identity: FileIdentity? { file.identity }
    func write(_ unit: AccessUnit) throws(OutputError) {
        if let kind = failure() { throw OutputError(kind, output: name) }
        if !holdsBack() { try file.write(unit) }
    }
    func beginStream(_ description: StreamDescription) {}
    func finish() throws(OutputError) { try file.finish() }
    func takeRetracted() -> WrittenUnits { retraction() }
}
